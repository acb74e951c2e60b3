// Who has the mutex that calls wait for.
#include "analyzer/hints/owners.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "tests/unit/hints/made.h"

using namespace rdam;
using namespace rdam::made_up;

namespace {

constexpr std::uint64_t kMutex = 0x5000, kOther = 0x6000, kLock = 0x10;

/// Thread 7 calls `work`, which waits for kMutex in every tenth call, from 20 to 420 of its 500 ticks. Two others
/// call `flush`, thread 8 at these times, thread 9 at all others.
struct Waiting : Made {
    Waiting() {
        info.functions.push_back(info.functions[0]);
        info.functions.back().name = "flush";
        info.functions.resize(4);
        info.functions[2].name = "lock";
        info.functions[2].address = kLock;
        info.functions[3].name = "lock (waiting)";
        info.functions[3].wait_of = kLock;
        report.threads = {
            {.tid = 7, .name = "worker"}, {.tid = 8, .name = "keeper"}, {.tid = 9, .name = "other"}};
        report.timeline.resize(3);
        for (std::size_t i = 0; i < kCalls; ++i) {
            const std::uint64_t begin = i * 1000;
            const bool slow = i % 10 == 3;
            auto& made = call(slow ? 400 : noise());
            made.end = begin + (slow ? 500 : 100);
            report.timeline[0].calls.push_back({0, begin, made.end});
            report.timeline[slow ? 1 : 2].calls.push_back({1, begin, begin + 450});
            if (!slow) continue;
            row().slow.push_back({0, 0, begin, made.end, 0.8});
            report.timeline[0].calls.push_back({2, begin + 10, begin + 430});
        }
    }

    void wait(std::size_t thread, std::uint64_t from, std::uint64_t to, std::uint32_t owner,
              std::uint64_t mutex = kMutex) {
        report.timeline[thread].waits.push_back(
            {.begin = from, .end = to, .mutex = mutex, .owner = owner, .function = 2});
    }

    void give_back(std::size_t thread, std::uint64_t at, std::uint64_t caller = 0) {
        report.timeline[thread].waits.push_back(
            {.begin = at, .end = at, .mutex = kMutex, .given_back = true, .caller = caller});
    }

    template <class Each>
    void each_slow(const Each& each) {
        for (std::size_t i = 3; i < kCalls; i += 10)
            each(i * 1000);
    }

    const hints::Hint* owner_hint() {
        kinds();
        const auto found_one = std::ranges::find(found.hints, hints::HintKind::owner, &hints::Hint::kind);
        return found_one != found.hints.end() ? &*found_one : nullptr;
    }
};

}  // namespace

TEST_CASE("The owner of a mutex is named, and what it is inside") {
    Waiting made;
    made.each_slow([&](std::uint64_t begin) { made.wait(0, begin + 20, begin + 420, 8); });
    const hints::Hint* hint = made.owner_hint();
    REQUIRE(hint != nullptr);
    CHECK(hint->text ==
          "for 99 % of the time lost in work() by thread 7 (worker), thread 8 (keeper) has the mutex 0x5000 "
          "that is waited "
          "for; it is inside flush() for 100 % of that time");
    CHECK(hint->share == Approx(0.99).margin(0.01));
    CHECK(hint->concurrent_function == "flush");
    CHECK(hint->concurrent_thread == 8U);
    CHECK(hint->thread == 7U);
    CHECK(std::ranges::count(made.kinds(), "concurrent") == 0);
}

TEST_CASE("Who has waited has the mutex from then on") {
    // Thread 8 gives it to thread 9, which waited as well, after a quarter of the time.
    Waiting made;
    made.each_slow([&](std::uint64_t begin) {
        made.wait(0, begin + 20, begin + 420, 8);
        made.wait(2, begin + 30, begin + 120, 8);
        made.report.timeline[2].calls.push_back({1, begin + 120, begin + 420});
    });
    const hints::Hint* hint = made.owner_hint();
    REQUIRE(hint != nullptr);
    CHECK_THAT(hint->text,
               Catch::StartsWith("for 99 % of the time lost in work() by thread 7 (worker), another thread "
                                 "(one of 2) has the mutex 0x5000"));
    CHECK(!hint->concurrent_thread);
    CHECK(hint->concurrent_function == "flush");
}

TEST_CASE("An owner that was just changing, is not in the trace or is the waiter itself is not known") {
    for (const std::uint32_t owner : {0U, 99U, 7U}) {
        Waiting made;
        made.each_slow([&](std::uint64_t begin) { made.wait(0, begin + 20, begin + 420, owner); });
        CHECK(made.owner_hint() == nullptr);
    }
    // Nor is one of two threads with one number.
    Waiting made;
    made.report.threads[2].tid = 8;
    made.each_slow([&](std::uint64_t begin) { made.wait(0, begin + 20, begin + 420, 8); });
    CHECK(made.owner_hint() == nullptr);
}

TEST_CASE("An owner's own waits, and the time that it has no processor, are told") {
    Waiting made;
    made.each_slow([&](std::uint64_t begin) {
        made.wait(0, begin + 20, begin + 420, 8);
        made.report.timeline[1].off.push_back({begin + 20, begin + 120, true});
        made.report.timeline[1].off.push_back({begin + 220, begin + 420, false});
    });
    const hints::Hint* hint = made.owner_hint();
    REQUIRE(hint != nullptr);
    CHECK_THAT(hint->text,
               Catch::EndsWith("it is inside flush() for 100 % of that time, waits itself for 50 % and is "
                               "preempted for 25 %"));
}

TEST_CASE("What has been given back is waited for until the thread that is woken runs") {
    for (const std::uint64_t after : {100, 300}) {
        Waiting made;
        made.each_slow([&](std::uint64_t begin) {
            made.wait(0, begin + 20, begin + 420, 8);
            made.give_back(1, begin + 20 + after);
        });
        const hints::Hint* hint = made.owner_hint();
        REQUIRE(hint != nullptr);
        if (after == 300)
            CHECK_THAT(
                hint->text,
                Catch::StartsWith("for 74 % of the time lost in work() by thread 7 (worker), thread 8 "
                                  "(keeper) has the mutex 0x5000 that is waited for; it is inside "
                                  "flush() for 100 % of that time; for 25 % it has been given back, and"));
        else
            CHECK_THAT(hint->text, Catch::StartsWith(
                                       "for 74 % of the time lost in work() by thread 7 (worker), the mutex "
                                       "0x5000 has been given back, and the thread that was woken has not "
                                       "come to run yet; for 25 % thread 8 (keeper) has it"));
    }
}

TEST_CASE("Who gives a mutex back had it, since when is not known") {
    // The mutex named thread 8, or nobody was left with it; thread 9 gives it back.
    Waiting made;
    made.each_slow([&](std::uint64_t begin) {
        made.wait(0, begin + 20, begin + 420, 8);
        made.give_back(2, begin + 400);
    });
    CHECK(made.owner_hint() == nullptr);
}

TEST_CASE("Who gives a mutex back twice has hardly been without it") {
    Waiting made;
    made.each_slow([&](std::uint64_t begin) {
        made.wait(0, begin + 20, begin + 420, 0);
        for (std::uint64_t at = begin + 30; at < begin + 420; at += 30)
            made.give_back(1, at);
    });
    const hints::Hint* hint = made.owner_hint();
    REQUIRE(hint != nullptr);
    CHECK(hint->concurrent_thread == 8U);
    CHECK(hint->share > 0.85);
}

TEST_CASE("Beyond a thousand owners it is not known who has the mutex") {
    Waiting made;
    made.report.threads.push_back({.tid = 10, .name = "last"});
    made.report.timeline.resize(4);
    made.row().slow = {{0, 0, 0, 1000000, 0.9}};
    made.report.timeline[0].calls = {{0, 0, 1000000}};
    made.wait(0, 0, 1000000, 8);
    for (std::uint64_t at = 10; at < 20000; at += 10)
        made.wait(at % 20 == 0 ? 1 : 2, at, at + 1, 10);
    CHECK(made.owner_hint() == nullptr);
}

TEST_CASE("Of threads that are left out it is not known what they had") {
    Waiting made;
    made.report.left_out.threads = 1;
    made.each_slow([&](std::uint64_t begin) {
        made.wait(0, begin + 20, begin + 420, 8);
        made.give_back(1, begin + 40);
    });
    CHECK(made.owner_hint() == nullptr);
}

TEST_CASE("For whom an owner waits is told, if it is known") {
    Waiting made;
    made.each_slow([&](std::uint64_t begin) {
        made.wait(0, begin + 20, begin + 420, 8);
        made.wait(1, begin + 120, begin + 420, 9, kOther);
        made.report.timeline[1].off.push_back({begin + 120, begin + 420, false});
    });
    const hints::Hint* hint = made.owner_hint();
    REQUIRE(hint != nullptr);
    CHECK_THAT(hint->text, Catch::EndsWith("and waits itself for 75 % (for thread 9 (other): 75 %)"));
}

TEST_CASE("What calls lose in waits is said of all calls, not of the slow ones alone") {
    // Each call takes 500 ticks, 300 of them at least; those are not slow, and wait as long as they lose.
    Waiting made;
    made.row().slow.clear();
    made.row().outermost = kCalls;
    made.row().baseline_ns = 300;
    for (auto& call : made.report.timeline[0].calls)
        if (call.function == 0) {
            call.end = call.begin + 500;
            call.duration = 500;
        }
    for (std::size_t i = 0; i < kCalls; ++i)
        made.wait(0, i * 1000 + 20, i * 1000 + 220, 8);
    const hints::Hint* hint = made.owner_hint();
    REQUIRE(hint != nullptr);
    CHECK(hint->share == Approx(1).margin(0.01));
    CHECK(hint->concurrent_thread == 8U);
}

TEST_CASE("Waits for several mutexes are told without their addresses") {
    Waiting made;
    bool first = false;
    made.each_slow([&](std::uint64_t begin) {
        first = !first;
        made.wait(0, begin + 20, begin + 420, 8, first ? kMutex : kOther);
    });
    const hints::Hint* hint = made.owner_hint();
    REQUIRE(hint != nullptr);
    CHECK_THAT(hint->text, Catch::Contains("thread 8 (keeper) has a mutex that is waited for"));
}

TEST_CASE("Who comes last to a barrier is named, and what it is inside") {
    // All three meet after 420 ticks of each tenth call; thread 8 comes last, from flush(). Where no one call is
    // short, somebody else came last.
    for (const bool recorded : {true, false}) {
        Waiting made;
        auto& barrier = made.info.functions[2];
        barrier.name = barrier.linkage_name = "pthread_barrier_wait";
        barrier.waits = true;
        std::erase_if(made.report.timeline[0].calls, [](const auto& call) { return call.function == 2; });
        made.each_slow([&](std::uint64_t begin) {
            made.report.timeline[0].calls.push_back({2, begin + 20, begin + 420, kMutex});
            made.report.timeline[2].calls.push_back({2, begin + 60, begin + 425, kMutex});
            if (recorded) made.report.timeline[1].calls.push_back({2, begin + 410, begin + 415, kMutex});
            // At another barrier.
            made.report.timeline[1].calls.push_back({2, begin + 416, begin + 417, kOther});
        });
        made.kinds();
        const auto hint =
            std::ranges::find(made.found.hints, hints::HintKind::last_to_come, &hints::Hint::kind);
        REQUIRE((hint != made.found.hints.end()) == recorded);
        if (!recorded) continue;
        CHECK_THAT(hint->text,
                   Catch::StartsWith("for 96 % of the time lost in work() by thread 7 (worker), thread 8 "
                                     "(keeper) has not come yet; it is inside flush() for 100 %"));
        CHECK(hint->concurrent_thread == 8U);
        CHECK(hint->concurrent_function == "flush");
    }
}

TEST_CASE("The graph has an edge for each pair of thread names and mutex, and adds up") {
    Waiting made;
    for (auto& timeline : made.report.timeline) {
        timeline.begin = 1;
        timeline.end = kCalls * 1000;
    }
    made.report.threads[2].name = "keeper";
    made.report.threads[0].duration_ns = 1e6;
    for (const std::uint64_t mutexes : {1U, 20U}) {
        for (auto& timeline : made.report.timeline)
            timeline.waits.clear();
        std::uint64_t number = 0;
        made.each_slow([&](std::uint64_t begin) {
            made.wait(0, begin + 20, begin + 220, 8, kMutex + 0x40 * (number++ % mutexes));
            made.wait(0, begin + 220, begin + 320, 9, kMutex + 0x40 * (number % mutexes));
            made.wait(0, begin + 320, begin + 420, 0, kOther);
        });
        const hints::WaitGraph graph = hints::wait_graph(
            made.info, made.report, hints::Activities{made.info, made.report},
            {.variable_at = [](std::uint64_t address) { return address == kMutex ? "table" : ""; }});
        REQUIRE(graph.edges.size() == 1);
        const hints::WaitEdge& edge = graph.edges.front();
        CHECK(edge.waiters == "thread 7 (worker)");
        CHECK(edge.owners == "2 threads (keeper)");
        CHECK(edge.owner_tids == std::vector<std::uint32_t>{8, 9});
        CHECK(edge.share == Approx(0.03).margin(0.001));
        CHECK(edge.waited_ns == Approx(edge.share * made.report.threads[0].duration_ns));
        CHECK(edge.object == (mutexes == 1 ? kMutex : 0));
        CHECK(edge.object_name == (mutexes == 1 ? "the mutex table" : "a mutex"));
        CHECK(graph.known == Approx(0.75).margin(0.01));
        CHECK(graph.woken == 0);
        CHECK(graph.at_least());
        REQUIRE(graph.of_threads.size() == 3);
        CHECK(graph.of_threads[0].owners == "2 threads (keeper)");
        CHECK(graph.of_threads[0].share == Approx(0.03).margin(0.001));
        CHECK(graph.of_threads[1].share == 0);
    }
}

TEST_CASE(
    "Of a wait that the owner is inside it is told who calls it, if that is nearly always the same one") {
    constexpr std::uint64_t kStore = 0x700, kLoad = 0x800;
    for (const std::uint64_t other : {kStore, kLoad}) {
        Waiting made;
        trace::FunctionInfo& sleep = made.info.functions[1];
        sleep.name = sleep.linkage_name = "nanosleep";
        sleep.waits = true;
        for (auto& timeline : made.report.timeline)
            timeline.end = kCalls * 1000;
        std::uint64_t number = 0;
        for (score::TimedCall& call : made.report.timeline[1].calls)
            call.caller = number++ % 2 == 0 ? kStore : other;
        made.each_slow([&](std::uint64_t begin) { made.wait(0, begin + 20, begin + 420, 8); });
        const hints::AddressNames names{.caller_at = [&](std::uint64_t return_address) {
            return return_address == kStore ? "store at db.c:5" : "";
        }};
        const hints::WaitGraph graph =
            hints::wait_graph(made.info, made.report, hints::Activities{made.info, made.report}, names);
        REQUIRE(!graph.edges.empty());
        const hints::WaitEdge& edge = graph.edges.front();
        CHECK(edge.inside == "nanosleep");
        CHECK(edge.inside_from == (other == kStore ? "store at db.c:5" : ""));
        CHECK_THAT(
            edge.meanwhile,
            Catch::Contains(other == kStore ? "is inside nanosleep(), called from store at db.c:5, for 100 %"
                                            : "is inside nanosleep() for 100 %"));
    }
}

TEST_CASE("Where the owner gives back what is waited for is told of most of the waits, with their share") {
    constexpr std::uint64_t kStore = 0x700, kLoad = 0x800;
    const hints::AddressNames names{.caller_at = [&](std::uint64_t return_address) {
        return return_address == kStore ? "store at db.c:5" : "load at db.c:9";
    }};
    for (const std::uint64_t every : {1, 4, 2}) {
        Waiting made;
        for (auto& timeline : made.report.timeline)
            timeline.end = kCalls * 1000;
        std::uint64_t number = 0;
        made.each_slow([&](std::uint64_t begin) {
            made.wait(0, begin + 20, begin + 420, 8);
            made.give_back(1, begin + 410, number++ % every == 0 ? kLoad : kStore);
        });
        const hints::WaitGraph graph =
            hints::wait_graph(made.info, made.report, hints::Activities{made.info, made.report}, names);
        REQUIRE(!graph.edges.empty());
        const hints::WaitEdge& edge = graph.edges.front();
        INFO(edge.meanwhile);
        const double share = every == 1 ? 1 : 1 - 1.0 / static_cast<double>(every);
        CHECK(edge.ended_from_share == Approx(share).margin(0.02));
        CHECK(edge.ended_from.starts_with(every == 1 ? "load" : every == 4 ? "store" : ""));
        CHECK_THAT(edge.meanwhile,
                   Catch::EndsWith(every == 1   ? "and gives it back in load at db.c:9"
                                   : every == 4 ? "and gives it back in store at db.c:5 (75 %)"
                                                : " %)"));
    }
}

TEST_CASE("Nobody who waits for a lock is suspected") {
    // Thread 8 is inside lock() whenever work() is slow, and nothing is known of the owner.
    Waiting made;
    made.report.timeline[1].calls.clear();
    made.each_slow([&](std::uint64_t begin) {
        made.report.timeline[1].calls.push_back({2, begin, begin + 450});
    });
    CHECK(std::ranges::count(made.kinds(), "concurrent") == 0);
}

TEST_CASE("Of a function that is sampled in windows, every wait counts") {
    Waiting made;
    made.row().function = 2;
    made.row().name = "lock";
    made.row().sampled = made.row().windowed = true;
    made.row().waits = kCalls / 10;
    made.row().waited_ns = 400 * kCalls / 10.0;
    made.row().lost_ns = 500 * kCalls / 10.0;
    made.row().slow.clear();
    made.each_slow([&](std::uint64_t begin) { made.wait(0, begin + 20, begin + 420, 8); });
    const hints::Hint* hint = made.owner_hint();
    REQUIRE(hint != nullptr);
    CHECK(hint->share == Approx(0.8).margin(0.01));
    CHECK(hint->concurrent_thread == 8U);
}
