// More work or slower work, from samples made up as counters give them.
#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analyzer/hints/hints.h"
#include "tests/unit/catch.h"

using namespace rdam;

namespace {

constexpr std::size_t kCountedCalls = 2000;
constexpr double kPace = 0.5;  ///< ns an instruction, when nothing disturbs

using Kinds = std::vector<std::string>;

struct Of {
    double instructions = 0;
    double disturbed_ns = 0;
    double blocked_ns = 0;
    std::uint64_t size = 0;
};

/// A trace with one function, `work(size)`, whose calls are what `make` says.
class Counted {
  public:
    explicit Counted(const std::function<Of(Counted&)>& make) {
        info.clock.ticks_per_second = 1e9;
        info.threads = {{.tid = 1, .name = "main", .start = 1, .end = kCountedCalls * 1000}};
        info.functions.resize(1);
        info.functions[0].name = "work";
        info.functions[0].enter_words = 1;
        info.functions[0].parameters = {{.name = "size", .size = 8, .type = "size_t"}};
        report.switches.state = trace::SwitchInfo::State::recorded;
        report.functions.resize(1);
        row().name = "work";
        row().rdam = 0.5;
        row().sample.words_per_call = 1;
        for (std::size_t i = 0; i < kCountedCalls; ++i)
            add(make(*this));
        double least = 1e300;
        for (const score::ScoredCall& call : row().sample.calls)
            least = std::min(least, call.duration_ns);
        for (score::ScoredCall& call : row().sample.calls)
            call.lost_ns = call.duration_ns - least;
    }

    score::FunctionRow& row() { return report.functions[0]; }
    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

    Kinds kinds() {
        found = hints::find_hints(info, report).front();
        Kinds kinds;
        for (const hints::Hint& hint : found.hints)
            kinds.emplace_back(hints::name_of(hint.kind));
        return kinds;
    }
    const hints::Hint& hint(hints::HintKind kind) {
        const auto hint = std::ranges::find(found.hints, kind, &hints::Hint::kind);
        REQUIRE(hint != found.hints.end());
        return *hint;
    }
    void forget_counts(std::size_t from = 0) {
        for (std::size_t i = from; i < kCountedCalls; ++i)
            row().sample.calls[i].instructions = 0;
    }

    trace::TraceInfo info;
    score::Report report;
    hints::FunctionHints found;  ///< after kinds()

  private:
    void add(const Of& of) {
        auto& calls = row().sample.calls;
        const double duration =
            of.instructions * kPace + of.disturbed_ns + of.blocked_ns + static_cast<double>(below(10));
        row().sample.words.push_back(of.size);
        // Interrupts are counted, too.
        const std::uint64_t seen =
            static_cast<std::uint64_t>(of.instructions) + (of.disturbed_ns > 0 ? 3 : below(2));
        score::ScoredCall call;
        call.begin = calls.size() * 100000;
        call.end = call.begin + static_cast<std::uint64_t>(duration);
        call.duration_ns = duration;
        call.instructions = seen;
        call.blocked_ns = of.blocked_ns;
        calls.push_back(call);
    }

    std::mt19937 random_;
};

double drawn(Counted& made) {
    return 1000 * static_cast<double>(1 + made.below(20));
}

double disturbance(Counted& made) {
    return made.below(4) == 0 ? 8000 + static_cast<double>(made.below(1000)) : 0;
}

}  // namespace

TEST_CASE("Calls that lose time execute more instructions") {
    Counted made([](Counted& self) { return Of{.instructions = drawn(self), .size = self.below(10)}; });
    REQUIRE(made.kinds() == Kinds{"more_work"});
    CHECK(made.hint(hints::HintKind::more_work).share > 0.9);
    CHECK_THAT(made.hint(hints::HintKind::more_work).text,
               Catch::Contains("more instructions (1") && Catch::Contains("vs. 1.00 k") &&
                   Catch::Contains("or iterations of a waiting loop"));
}

TEST_CASE("The same instructions take longer") {
    Counted made([](Counted& self) {
        return Of{.instructions = 5000, .disturbed_ns = disturbance(self), .size = self.below(10)};
    });
    REQUIRE(made.kinds() == Kinds{"slower_work", "no_parameter"});
    CHECK(made.hint(hints::HintKind::slower_work).share > 0.9);
    CHECK_THAT(made.hint(hints::HintKind::slower_work).text,
               Catch::Contains("(2.2 ns each vs. 0.5") && Catch::Contains("with about 5.00 k per call") &&
                   Catch::Contains("or interference"));
}

TEST_CASE("Work that varies does not hide that it is slower") {
    Counted made([](Counted& self) {
        return Of{.instructions = 5000 + 20.0 * static_cast<double>(self.below(20)),
                  .disturbed_ns = disturbance(self),
                  .size = self.below(10)};
    });
    CHECK(made.kinds() == Kinds{"slower_work", "no_parameter"});
}

TEST_CASE("Without counts nothing is said of them, and the hints are the same") {
    Counted made([](Counted& self) { return Of{.instructions = drawn(self), .size = self.below(10)}; });
    made.forget_counts();
    CHECK(made.kinds() == Kinds{"no_parameter"});
}

TEST_CASE("Counts of a few calls tell nothing of the others") {
    Counted made([](Counted& self) { return Of{.instructions = drawn(self), .size = self.below(10)}; });
    made.forget_counts(kCountedCalls / 3);
    CHECK(made.kinds() == Kinds{"no_parameter"});
}

TEST_CASE("A parameter that says why there is more work comes first") {
    Counted made([](Counted& self) {
        const std::uint64_t size = 1 + self.below(20);
        return Of{.instructions = 1000.0 * static_cast<double>(size), .size = size};
    });
    CHECK(made.kinds() == Kinds{"parameter", "more_work"});
}

TEST_CASE("When it is slower comes before that it is") {
    std::size_t calls = 0;
    Counted made([&](Counted& self) {
        const bool then = calls > kCountedCalls / 2 && calls < kCountedCalls * 3 / 4;
        ++calls;
        return Of{.instructions = 5000, .disturbed_ns = then ? 9000.0 : 0.0, .size = self.below(10)};
    });
    CHECK(made.kinds() == Kinds{"phase", "slower_work", "no_parameter"});
    CHECK(made.hint(hints::HintKind::slower_work).share >= made.hint(hints::HintKind::phase).share);
}

TEST_CASE("In a function that waits busily more instructions may be waiting") {
    Counted made([](Counted& self) { return Of{.instructions = drawn(self), .size = self.below(10)}; });
    SECTION("busily") {
        made.info.functions[0].busy_waits = true;
    }
    SECTION("or asleep, as far as that is on the processor") {
        made.info.functions[0].waits = true;
    }
    REQUIRE(made.kinds() == Kinds{"busy_wait", "waits"});
    CHECK_THAT(made.hint(hints::HintKind::busy_wait).text,
               Catch::Contains("these may be iterations of a waiting loop"));
}

TEST_CASE("In a function that waits the same instructions are not slower work") {
    Counted made([](Counted& self) {
        return Of{.instructions = 5000, .disturbed_ns = disturbance(self), .size = self.below(10)};
    });
    made.info.functions[0].waits = true;
    CHECK(made.kinds() == Kinds{"two_times", "waits"});
}

TEST_CASE("Time off the processor is neither more nor slower work") {
    Counted made([](Counted& self) {
        const bool blocked = self.below(4) == 0;
        // Who is to wait executes a little more.
        return Of{.instructions = blocked ? 400.0 : 300.0,
                  .blocked_ns = blocked ? 50000.0 : 0,
                  .size = self.below(10)};
    });
    CHECK(made.kinds() == Kinds{"blocked", "no_parameter"});
}

TEST_CASE("A few more instructions are not the cause of a large loss") {
    Counted made([](Counted& self) {
        const double disturbed = disturbance(self);
        return Of{
            .instructions = disturbed > 0 ? 600.0 : 300.0, .disturbed_ns = disturbed, .size = self.below(10)};
    });
    CHECK(made.kinds() == Kinds{"two_times", "no_parameter"});
}
