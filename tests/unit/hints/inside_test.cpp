// From events to hints about what is called inside, where the sequences do not tell it.
#include <random>
#include <string>
#include <vector>

#include "analyzer/hints/hints.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"

using namespace rdam;

namespace {

constexpr std::uint64_t kCallsOfA = 400;

/// Calls of `a`, in which there are so many of `b`, then so many of `c`, of ten ticks each; `work` more ticks
/// of a's own. Functions have the parameter k, which may be a key.
struct Program {
    void call(std::uint64_t b, std::uint64_t c, std::uint64_t work, std::uint64_t key = 0) {
        recording.threads[0].enter(now, 0, {0});
        for (std::uint64_t i = 0; i < b; ++i)
            recording.threads[0].call(now += 10, 1, 10, {key});
        for (std::uint64_t i = 0; i < c; ++i)
            recording.threads[0].call(now += 10, 2, 10, {key});
        recording.threads[0].leave(now += 20 + work, 0);
        now += 5;
    }

    /// The parameters that explain what `a` loses, best first.
    std::vector<std::string> explained(const score::Settings& settings) {
        recording.info.threads[0].end = now;
        hints::Analysis analysis{test::analyze(recording, settings, 1000, 4096)};
        analysis.functions = hints::find_hints(recording.info, analysis.report);
        std::vector<std::string> parameters;
        for (const hints::Hint& hint : analysis.of(test::row(analysis.report, "a")).hints)
            parameters.push_back(hint.kind == hints::HintKind::parameter
                                     ? hint.parameter
                                     : std::string{hints::name_of(hint.kind)});
        return parameters;
    }

    Program() { recording.thread(1, 2); }
    std::uint64_t below(std::uint64_t limit) { return random() % limit; }

    test::Recording recording{3, 1};
    std::uint64_t now = 100;
    std::mt19937 random;
};

using Names = std::vector<std::string>;
const score::Settings kFolded{.sequences = {.fold_loops = true}};

}  // namespace

TEST_CASE("Of the loops that are folded the one that matters is named") {
    Program program;
    for (std::uint64_t i = 0; i < kCallsOfA; ++i) {
        const std::uint64_t b = 1 + program.below(2), c = 1 + program.below(20);
        program.call(b, c, program.below(5));
    }
    CHECK(program.explained(kFolded) == Names{"calls of c inside"});
}

TEST_CASE("Loops that matter together are told together") {
    Program program;
    for (std::uint64_t i = 0; i < kCallsOfA; ++i)
        program.call(1 + program.below(15), 1 + program.below(15), program.below(5));
    const Names names = program.explained(kFolded);
    REQUIRE(!names.empty());
    CHECK(names.front() == "calls inside");
}

TEST_CASE("Loops that are not folded leave nothing to explain") {
    Program program;
    for (std::uint64_t i = 0; i < kCallsOfA; ++i)
        program.call(1, 1 + program.below(4), program.below(4) == 0 ? 3000 : program.below(5));
    CHECK(program.explained({}) == Names{"no_parameter"});
}

TEST_CASE("A loop's count is not taken for its keys") {
    Program loops;
    for (std::uint64_t i = 0; i < kCallsOfA; ++i)
        loops.call(1, 1 + loops.below(20), loops.below(5), 7);
    score::Settings settings = kFolded;
    settings.given.keys = {"b:k", "c:k"};
    CHECK(loops.explained(settings) == Names{"calls of c inside"});

    Program keys;
    for (std::uint64_t i = 0; i < kCallsOfA; ++i) {
        const std::uint64_t key = keys.below(3);
        keys.call(1, 1 + keys.below(2), key == 1 ? 900 : keys.below(5), key);
    }
    CHECK(keys.explained(settings) == Names{"keys of calls inside"});
}

TEST_CASE("The sample of a function with many loops inside stays bounded") {
    samples::CallSample sample{16, 0, 1};
    std::vector<samples::Repeats> repeats;
    for (std::uint32_t f = 0; f < 20; ++f)
        repeats.push_back({f, f + 1});
    REQUIRE(sample.wants(10));
    sample.take({}, {});
    for (int i = 0; i < 40; ++i)
        if (sample.wants(10))
            sample.take({}, {}, std::span{repeats}.subspan(static_cast<std::size_t>(i) % 4));
    sample.finish();
    REQUIRE(sample.repeated().size() == samples::kMaxRepeated);
    for (std::size_t call = 0; call < sample.taken().size(); ++call)
        for (std::size_t number = 0; number < sample.repeated().size(); ++number) {
            const std::uint32_t count = sample.repeats(call, number);
            CHECK((count == 0 || count == sample.repeated()[number] + 1));
        }
}
