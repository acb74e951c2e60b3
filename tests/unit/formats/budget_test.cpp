// Which calls become slices, and what becomes of the others.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "analyzer/export/losses.h"
#include "analyzer/report/score_trace.h"
#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/formats/collected.h"
#include "tests/unit/rounds.h"

namespace rdam::test {
namespace {

using exports::SizeCounts;

/// Each call with the largest loss in it, its own or that of a call inside.
class Losses final : public views::CallVisitor {
  public:
    struct Call {
        views::Closed call;
        double most = 0;
        bool kept = false;
    };

    explicit Losses(const exports::Kept& kept) : kept_(kept) {}
    void opened(const views::Opened& /*call*/) override { open_.emplace_back(); }
    void closed(const views::Closed& call) override {
        const Open open = open_.back();
        open_.pop_back();
        const double most = std::max(open.most, call.timed ? call.lost : 0.0);
        const bool kept = kept_.keeps(call, open.kept, begun_);
        calls.push_back({call, most, kept});
        if (open_.empty()) return;
        open_.back().most = std::max(open_.back().most, most);
        open_.back().kept = open_.back().kept || kept;
        around_kept = around_kept && (!open.kept || kept);
    }

    std::vector<Call> calls;
    bool around_kept = true;  ///< the calls around a kept one are kept

  private:
    struct Open {
        double most = 0;
        bool kept = false;
    };
    const exports::Kept& kept_;
    std::size_t begun_ = 0;
    std::vector<Open> open_;
};

std::vector<Losses::Call> judged_calls(const views::Visit& visit, std::uint64_t budget) {
    const auto kept = exports::Kept::choose(visit, budget, 2, nullptr);
    REQUIRE(kept);
    REQUIRE_FALSE(kept->all());
    std::vector<Losses::Call> all;
    for (const std::uint32_t thread : visit.threads()) {
        Losses losses{*kept};
        REQUIRE(visit.thread(thread, losses));
        CHECK(losses.around_kept);
        all.insert(all.end(), losses.calls.begin(), losses.calls.end());
    }
    return all;
}

/// A call is merged only if those that lost as much are more than three eighths of the budget.
void check_largest_are_kept(const views::Visit& visit, std::uint64_t budget) {
    const std::vector<Losses::Call> calls = judged_calls(visit, budget);
    double merged = -1;
    for (const Losses::Call& each : calls)
        if (!each.kept) merged = std::max(merged, each.most);
    if (merged < 0) return;
    const std::size_t size = SizeCounts::class_of(merged);
    const auto as_large = std::ranges::count_if(
        calls, [&](const Losses::Call& each) { return SizeCounts::class_of(each.most) >= size; });
    CHECK(static_cast<std::uint64_t>(as_large) > budget * 3 / 8);
}

}  // namespace

TEST_CASE("larger values are in no smaller class", "[budget]") {
    CHECK(SizeCounts::class_of(0) == 0);
    CHECK(SizeCounts::class_of(-5) == 0);
    CHECK(SizeCounts::class_of(std::nan("")) == 0);
    CHECK(SizeCounts::class_of(std::numeric_limits<double>::infinity()) == SizeCounts::kClasses - 1);
    CHECK(SizeCounts::class_of(std::numeric_limits<double>::min()) >= 1);
    std::size_t before = 0;
    for (double value = 1e-3; value < 1e22; value *= 1.007) {
        const std::size_t size = SizeCounts::class_of(value);
        CHECK(size >= before);
        CHECK(size < SizeCounts::kClasses);
        // Above a tick, two values that are a tenth apart are told apart.
        if (value > 1 && value < 1e19) CHECK(SizeCounts::class_of(value * 1.1) > size);
        before = size;
    }
}

TEST_CASE("from its class on there are no more values than asked for", "[budget]") {
    std::mt19937_64 random{3};
    for (int round = 0; round < 200; ++round) {
        SizeCounts first, second;
        std::vector<std::size_t> classes;
        for (std::uint64_t i = random() % 300; i > 0; --i) {
            const double value = random() % 5 == 0 ? 0 : std::exp2(static_cast<double>(random() % 600) / 10);
            (random() % 2 == 0 ? first : second).add(value);
            classes.push_back(SizeCounts::class_of(value));
        }
        first.add(second);
        const std::uint64_t most = random() % 200;
        const std::size_t least = first.class_with_at_most(most);
        const auto from = [&](std::size_t size) {
            return static_cast<std::uint64_t>(
                std::ranges::count_if(classes, [&](std::size_t each) { return each >= size; }));
        };
        CHECK(from(least) <= most);
        if (least > 0) CHECK(from(least - 1) > most);
    }
}

TEST_CASE("the calls that lost most are kept, and those around them", "[budget][random]") {
    for (std::uint64_t seed = 1; seed <= rounds(48U); ++seed) {
        std::mt19937_64 random{seed};
        INFO("seed " << seed);
        const Recording recording = random_recording(
            random, {.functions = 5, .threads = 3, .events = 500, .accidents = seed % 2 == 0});
        const trace::TraceReader reader = reader_of(recording);
        const views::Visit visit = visit_of(reader);
        for (const std::uint64_t budget : {std::uint64_t{1}, std::uint64_t{2 + random() % 50},
                                           std::uint64_t{100 + random() % 1000}, std::uint64_t{100'000}})
            check_largest_are_kept(visit, budget);
    }
}

TEST_CASE("with room for all calls all are kept", "[budget]") {
    std::mt19937_64 random{9};
    const trace::TraceReader reader = reader_of(random_recording(random, {.events = 1000}));
    const views::Visit visit = visit_of(reader);
    for (const Losses::Call& each : judged_calls(visit, 100'000))
        CHECK(each.kept);
}

TEST_CASE("the calls around those that lost most are part of the budget", "[budget]") {
    constexpr std::uint32_t kDeep = 19, kTrees = 1000;
    Recording recording{kDeep + 1};
    ThreadRecording& thread = recording.thread(1000, 20'000'000);
    for (std::uint64_t i = 0; i < kTrees; ++i) {
        const std::uint64_t at = 2000 + 10'000 * i;
        for (std::uint32_t f = 0; f < kDeep; ++f)
            thread.enter(at + f, f);
        thread.call(at + kDeep, kDeep, 10 + i);  // alone has lost anything
        for (std::uint32_t f = kDeep; f-- > 0;)
            thread.leave(at + 9000 - f, f);
    }
    const trace::TraceReader reader = reader_of(recording);
    const views::Visit visit = visit_of(reader);
    const auto kept = std::ranges::count_if(judged_calls(visit, 10'000), &Losses::Call::kept);
    CHECK(kept > 3000);
    CHECK(kept <= 3750);
    CHECK(slices_of(visit, {.budget = 10'000}).collected.slices() == static_cast<std::uint64_t>(kept));
    check_largest_are_kept(visit, 10'000);
}

TEST_CASE("what is known early chooses nearly the same calls", "[budget]") {
    std::mt19937_64 random{5};
    Recording recording{2};
    constexpr std::uint64_t kCalls = 20'000, kBudget = 4000, kLargest = 1000;
    for (int t = 0; t < 2; ++t) {
        ThreadRecording& thread = recording.thread(1000, 1'000'000 * kCalls);
        for (std::uint64_t i = 0; i < kCalls; ++i) {
            const std::uint64_t at = 2000 + 900'000 * i;
            const std::uint64_t lost = random() % 8 == 0 ? random() % 800'000 : random() % 30;
            thread.enter(at, kA).call(at + 10, kB, 1000 + lost).leave(at + 1100 + lost, kA);
        }
    }
    const trace::TraceReader reader = reader_of(recording);
    exports::EarlyLosses early;
    const views::Visit visit = early_visit_of(reader, early);
    REQUIRE(visit.unsettled());
    CHECK(*visit.unsettled() < kCalls / 10);
    CHECK(early.most().calls == 4 * kCalls);
    const auto kept = exports::Kept::choose(visit, kBudget, 1, &early);
    REQUIRE(kept);
    std::vector<std::pair<double, bool>> calls;
    for (const std::uint32_t thread : visit.threads()) {
        Losses losses{*kept};
        REQUIRE(visit.thread(thread, losses));
        CHECK(losses.around_kept);
        for (const Losses::Call& each : losses.calls)
            calls.emplace_back(each.call.lost, each.kept);
    }
    std::ranges::sort(calls, std::greater{});
    for (std::size_t i = 0; i < kLargest; ++i)
        CHECK(calls[i].second);
    const auto count = std::ranges::count_if(calls, [](const auto& call) { return call.second; });
    CHECK(static_cast<std::uint64_t>(count) <= kBudget * 3 / 8 + *visit.unsettled());
}

TEST_CASE("a call with pauses sets no baseline early, if there are others", "[budget]") {
    constexpr std::uint64_t kCalls = 1000;
    for (const bool all_held : {false, true}) {
        Recording recording{1};
        ThreadRecording& thread = recording.thread(1000, 10'000 * kCalls);
        for (std::uint64_t i = 0; i < kCalls; ++i) {
            const std::uint64_t at = 2000 + 9000 * i;
            const bool held = all_held || i == 0 || i == kCalls / 2;
            thread.enter(at, kA);
            if (held) thread.pause(at + 10, at + 4990);
            thread.leave(at + 5000, kA);
        }
        const trace::TraceReader reader = reader_of(recording);
        exports::EarlyLosses early;
        const views::Visit visit = early_visit_of(reader, early);
        CHECK(*visit.unsettled() <= 1);
        CHECK(early.least().from(1) == 0);
    }
}

TEST_CASE("where baselines settle late the losses are counted", "[budget]") {
    // Each call is faster than the one before: what is known early is that none lost anything.
    Recording recording{1};
    constexpr std::uint64_t kCalls = 1000;
    ThreadRecording& thread = recording.thread(1000, 100'000 * kCalls);
    for (std::uint64_t i = 0; i < kCalls; ++i)
        thread.call(2000 + 90'000 * i, kA, 80'000 - 70 * i);
    const trace::TraceReader reader = reader_of(recording);
    exports::EarlyLosses early;
    const views::Visit visit = early_visit_of(reader, early);
    CHECK(*visit.unsettled() > kCalls / 2);
    const Sliced sliced = slices_of(visit, {.budget = 200, .jobs = 1, .early = &early});
    CHECK(sliced.written.calls == slices_of(visit, {.budget = 200, .jobs = 1}).written.calls);
    CHECK(sliced.written.calls > 50);
    CHECK(sliced.written.calls <= 100);
}

TEST_CASE("of small losses it is not known early which are larger", "[budget]") {
    std::mt19937_64 random{6};
    Recording recording{1};
    constexpr std::uint64_t kCalls = 20'000;
    ThreadRecording& thread = recording.thread(1000, 2'000'000 * kCalls);
    for (std::uint64_t i = 0; i < kCalls; ++i)
        thread.call(2000 + 1'500'000 * i, kA, 1'000'000 + random() % 20'000);
    const trace::TraceReader reader = reader_of(recording);
    exports::EarlyLosses early;
    const views::Visit visit = early_visit_of(reader, early);
    const Sliced sliced = slices_of(visit, {.budget = 2000, .jobs = 1, .early = &early});
    CHECK(sliced.written.calls == slices_of(visit, {.budget = 2000, .jobs = 1}).written.calls);
    CHECK(sliced.written.calls > 500);
}

TEST_CASE("the thousand largest losses are kept, however many are nearly as large", "[budget]") {
    std::mt19937_64 random{4};
    Recording recording{1};
    constexpr std::uint64_t kCalls = 20'000, kBudget = 8000, kLargest = 1000;
    ThreadRecording& thread = recording.thread(1000, 100'000 * kCalls);
    for (std::uint64_t i = 0; i < kCalls; ++i)
        thread.call(2000 + 90'000 * i, kA, i % 4 == 1 ? 40'000 + random() % 300 : 1000);
    const trace::TraceReader reader = reader_of(recording);
    exports::EarlyLosses early;
    const views::Visit visit = early_visit_of(reader, early);
    for (const exports::EarlyLosses* const known : {&early, static_cast<exports::EarlyLosses*>(nullptr)}) {
        const auto kept = exports::Kept::choose(visit, kBudget, 1, known);
        REQUIRE(kept);
        Losses losses{*kept};
        REQUIRE(visit.thread(0, losses));
        std::vector<std::pair<double, bool>> calls;
        for (const Losses::Call& each : losses.calls)
            calls.emplace_back(each.call.lost, each.kept);
        std::ranges::sort(calls, std::greater{});
        CHECK(std::all_of(calls.begin(), calls.begin() + kLargest,
                          [](const auto& call) { return call.second; }));
        CHECK(std::ranges::count_if(calls, [](const auto& call) { return call.second; }) <= 4000);
    }
}

TEST_CASE("what others did during a first call is shown, though its loss is known last", "[budget]") {
    Recording recording{3};
    constexpr std::uint64_t kCalls = 4000, kLong = 50'000'000, kBudget = 20'000;
    std::mt19937_64 random{7};
    ThreadRecording& first = recording.thread(1000, 1'000'000'000);
    first.call(2000, kA, kLong);
    for (std::uint64_t i = 0; i < kCalls; ++i)
        first.call(60'000'000 + 90'000 * i, kA, 1000 + (i % 2 == 0 ? random() % 80'000 : 0));
    ThreadRecording& second = recording.thread(1000, 1'000'000'000);
    for (std::uint64_t i = 0; i < 20; ++i)
        second.call(10'000 + 2'000'000 * i, kB, 1'500'000);
    const trace::TraceReader reader = reader_of(recording);
    exports::EarlyLosses early;
    const views::Visit visit = early_visit_of(reader, early);
    const Sliced sliced = slices_of(visit, {.budget = kBudget, .jobs = 1, .early = &early});
    REQUIRE(sliced.collected.threads.size() == 2);
    CHECK(sliced.collected.threads[0].slices.front().end == kLong + 1000);
    CHECK(sliced.collected.threads[1].slices.size() == 20);
}

TEST_CASE("what other threads did during a large loss is kept", "[budget]") {
    Recording recording{3};
    ThreadRecording& first = recording.thread(1000, 2'000'000);
    for (std::uint64_t i = 0; i < 1000; ++i)
        first.call(2000 + 1000 * i, kA, i == 500 ? 900 : 100);
    ThreadRecording& second = recording.thread(1000, 2'000'000);
    for (std::uint64_t i = 0; i < 2000; ++i)
        second.enter(2000 + 500 * i, kB).call(2000 + 500 * i + 20, kC, 1).leave(2000 + 500 * i + 150, kB);
    const trace::TraceReader reader = reader_of(recording);
    const views::Visit visit = visit_of(reader);
    const auto kept = slices_of(visit, {.budget = 2000});
    REQUIRE(kept.collected.threads.size() == 2);
    CHECK(kept.collected.threads[0].slices.size() == 1);
    // From 502,000 to 502,900: two calls of b, while c is too short to be seen.
    REQUIRE(kept.collected.threads[1].slices.size() == 2);
    for (const exports::Slice& slice : kept.collected.threads[1].slices)
        CHECK(slice.function == kB);
    CHECK(kept.collected.threads[1].slices[0].begin == 501'000);
}

TEST_CASE("the longest times off the processors are kept", "[budget]") {
    Recording recording{1};
    recording.info.switches.state = trace::SwitchInfo::State::recorded;
    ThreadRecording& thread = recording.thread(1000, 10'000'000);
    thread.call(2000, kA, 10);
    for (std::uint64_t i = 0; i < 1000; ++i)
        thread.off({.out = 10'000 + 5000 * i, .in = 10'000 + 5000 * i + 1 + i * 4});
    const trace::TraceReader reader = reader_of(recording);
    const views::Visit visit = visit_of(reader);
    const auto kept = exports::Kept::choose(visit, 400, 1, nullptr);
    REQUIRE(kept);
    const auto off = visit.off_cpu(0);
    REQUIRE(off);
    std::size_t count = 0;
    bool before = false;  // they grow
    for (const trace::OffCpu& each : *off) {
        CHECK((kept->keeps(each) || !before));
        before = kept->keeps(each);
        count += before ? 1 : 0;
    }
    CHECK(count > 50);
    CHECK(count <= 100);
    CHECK(slices_of(visit, {.budget = 400}).collected.threads.at(0).off == count);
    CHECK(slices_of(visit, {}).collected.threads.at(0).off == 1000);
}

}  // namespace rdam::test
