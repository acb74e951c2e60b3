// Who is inside another function, in another thread, when calls are slow.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/hints/made.h"

using namespace rdam;
using namespace rdam::made_up;

namespace {

/// A second thread is inside `update` for a tenth of the time; `work` is slow when and only when it is, if
/// `together`.
void add_update(Made& made, bool together) {
    made.info.functions.push_back(made.info.functions[0]);
    made.info.functions.back().name = "update";
    made.report.threads = {{.tid = 7, .name = "worker"}, {.tid = 8, .name = "writer"}};
    made.report.timeline.resize(2);
    for (std::size_t i = 0; i < kCalls; ++i) {
        const std::uint64_t begin = i * 1000;
        const bool slow = i % 10 == 3;
        auto& call = made.call(slow ? 400 : made.noise());
        call.end = begin + (slow ? 500 : 100);
        made.report.timeline[0].calls.push_back({0, begin, call.end});
        if (slow) made.row().slow.push_back({0, 0, begin, call.end, 0.8});
        if (together ? slow : i % 10 == made.below(10))
            made.report.timeline[1].calls.push_back({1, begin, begin + 450});
    }
}

}  // namespace

TEST_CASE("The concurrent function is the one another thread is inside when calls are slow") {
    Made made;
    add_update(made, true);
    REQUIRE(made.kinds() == Kinds{"concurrent", "no_parameter"});
    const hints::Hint& hint = made.found.hints[0];
    CHECK_THAT(hint.text,
               Catch::StartsWith("for 89 % of the time lost in work() by thread 7 (worker), thread 8 "
                                 "(writer) is inside update() (for 0 % of the other time)"));
    CHECK(hint.concurrent_function == "update");
    CHECK(hint.concurrent_thread == 8U);
    CHECK(hint.thread == 7U);
}

TEST_CASE("A function that is sampled is not reported as concurrent") {
    for (const bool sampled : {false, true}) {
        Made made;
        add_update(made, true);
        score::FunctionRow update;
        update.function = 1;
        update.name = "update";
        update.sampled = sampled;
        made.report.functions.push_back(update);
        CHECK(std::ranges::count(made.kinds(), "concurrent") == (sampled ? 0 : 1));
    }
}

TEST_CASE("Who only waits for other threads is not reported as concurrent") {
    for (const char* name : {"update", "sched_yield", "__sched_yield", "pthread_join"}) {
        Made made;
        add_update(made, true);
        made.info.functions[1].name = made.info.functions[1].linkage_name = name;
        made.info.functions[1].waits = name == std::string{"pthread_join"};
        CHECK(std::ranges::count(made.kinds(), "concurrent") == (name == std::string{"update"} ? 1 : 0));
    }
}

TEST_CASE("It is the loss that passes while somebody is at work, not the time of the calls that lose") {
    for (const double lost_during : {0.5, 1.0}) {
        Made made;
        add_update(made, true);
        auto& slow = made.row().slow;
        for (std::size_t i = 0; i < slow.size(); ++i) {
            slow[i].lost = i % 2 == 0 ? lost_during : 0.5;
            if (i % 2 != 0)
                std::erase_if(made.report.timeline[1].calls,
                              [&](const score::TimedCall& call) { return call.begin == slow[i].begin; });
        }
        // Half of the slow calls overlap, by nine tenths: half of the loss, or two thirds.
        const Kinds kinds = made.kinds();
        CHECK(std::ranges::count(kinds, "concurrent") == (lost_during > 0.5 ? 1 : 0));
        if (kinds.front() == "concurrent") CHECK(made.found.hints[0].share == Approx(0.59).margin(0.01));
    }
}

TEST_CASE("Neither who loses nor who is at work is named if it is now this thread and now that one") {
    Made made;
    add_update(made, true);
    made.report.threads.push_back({.tid = 9, .name = "third"});
    made.report.threads.push_back({.tid = 10, .name = "fourth"});
    made.report.timeline.resize(4);
    auto& slow = made.row().slow;
    for (std::size_t i = 0; i < slow.size(); i += 2) {
        slow[i].thread = 2;
        std::erase_if(made.report.timeline[0].calls,
                      [&](const score::TimedCall& call) { return call.begin == slow[i].begin; });
        made.report.timeline[2].calls.push_back({0, slow[i].begin, slow[i].end});
    }
    std::vector<score::TimedCall> updates;
    std::swap(updates, made.report.timeline[1].calls);
    for (std::size_t i = 0; i < updates.size(); ++i)
        made.report.timeline[i % 4 < 2 ? 1 : 3].calls.push_back(updates[i]);
    REQUIRE(made.kinds().front() == "concurrent");
    const hints::Hint& hint = made.found.hints[0];
    CHECK_THAT(hint.text,
               Catch::Contains(" % of the time lost in work(), another thread is inside update() "));
    CHECK(!hint.concurrent_thread);
    CHECK(!hint.thread);
}

TEST_CASE("A function that runs just as often at other times is not reported as concurrent") {
    Made made;
    add_update(made, false);
    CHECK(made.kinds() == Kinds{"two_times", "no_parameter"});
    Made always;
    add_update(always, true);
    always.report.timeline[1].calls = {{1, 0, kCalls * 1000}};
    CHECK(always.kinds() == Kinds{"two_times", "no_parameter"});
}

TEST_CASE(
    "A thread that waits for the slow ones all the time is not reported, even if it calls the function "
    "itself") {
    Made made;
    add_update(made, true);
    made.report.timeline[1].calls = {
        {0, 0, 10}, {1, 20, kCalls * 1000}, {0, kCalls * 1000 + 10, kCalls * 1000 + 20}};
    CHECK(made.kinds() == Kinds{"two_times", "no_parameter"});
    made.row().slow.push_back({1, 0, 0, 10, 0.8});
    CHECK(made.kinds() == Kinds{"two_times", "no_parameter"});
}

TEST_CASE("The concurrent function of a sequence is that of its own slow calls") {
    Made made;
    add_update(made, true);
    for (std::size_t i = 0; i < kCalls; ++i)
        made.row().sample.calls[i].group = i % 20 == 3 ? 0 : 1;
    for (score::SlowCall& call : made.row().slow)
        call.group = call.begin / 1000 % 20 == 3 ? 0 : 1;
    std::erase_if(made.report.timeline[1].calls,
                  [](const score::TimedCall& call) { return call.begin / 1000 % 20 != 3; });
    made.row().sequences = {{{.rdam = 0.3}, 1, "a", 0, 0}, {{.rdam = 0.3}, 2, "b", 0, 1}};
    made.row().scored_sequences = 2;
    made.kinds();
    const auto names_update = [&](std::size_t sequence) {
        return std::ranges::any_of(made.found.of_sequence(sequence), [](const hints::Hint& hint) {
            return hint.concurrent_function == "update";
        });
    };
    CHECK(names_update(0));
    CHECK(!names_update(1));
}

TEST_CASE("Thousands of threads that all lose time are one question, not one for each of them") {
    constexpr std::size_t kThreads = 3000, kOfThread = 200;
    Made made;
    add_update(made, true);
    made.row().slow.clear();
    made.report.threads.assign(2 * kThreads, {});
    made.report.timeline.assign(2 * kThreads, {});
    // One pair of threads behind the other: a call that loses time, then one that does not.
    for (std::size_t t = 0; t < kThreads; ++t) {
        for (std::size_t i = 0; i < kOfThread; ++i) {
            const std::uint64_t begin = (t * kOfThread + i) * 1000;
            made.report.timeline[t].calls.push_back({0, begin, begin + (i % 2 == 0 ? 500 : 100)});
            if (i % 2 != 0) continue;
            made.row().slow.push_back({t, 0, begin, begin + 500, 0.8});
            made.report.timeline[kThreads + t].calls.push_back({1, begin, begin + 450});
        }
    }
    REQUIRE(made.kinds().front() == "concurrent");
    CHECK(made.found.hints[0].concurrent_function == "update");
    CHECK(!made.found.hints[0].thread);
    CHECK(!made.found.hints[0].concurrent_thread);
}
