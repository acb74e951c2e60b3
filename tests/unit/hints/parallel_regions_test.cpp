// Threads that work side by side, as those of a parallel region do, are not why one of them takes long.
#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/hints/overlaps.h"
#include "tests/unit/hints/made.h"

using namespace rdam;
using namespace rdam::made_up;

namespace {

constexpr std::uint64_t kLong = 500, kShort = 100;

bool is_large(std::size_t level) {
    return level % 10 == 3;
}

/// A call of `work` by the first thread: slow on large levels.
void add_call(Made& made, std::size_t i) {
    const std::uint64_t begin = i * 1000, end = begin + (is_large(i) ? kLong : kShort);
    made.call(is_large(i) ? 400 : made.noise()).end = end;
    made.report.timeline[0].calls.push_back({0, begin, end});
    if (is_large(i)) made.row().slow.push_back({0, 0, begin, end, 0.8});
}

Made two_threads() {
    Made made;
    made.report.threads = {{.tid = 7, .name = "main"}, {.tid = 8, .name = "main"}};
    made.report.timeline.resize(2);
    return made;
}

/// `name`, which waits, is function 1.
Made two_threads_and(const std::string& name) {
    Made made = two_threads();
    made.info.functions.push_back(made.info.functions[0]);
    made.info.functions.back().name = name;
    made.info.functions.back().waits = true;
    return made;
}

/// Both threads do each level of a multigrid, the second one `late` ticks after the first.
Made multigrid(std::uint64_t late) {
    Made made = two_threads();
    for (std::size_t i = 0; i < kCalls; ++i) {
        add_call(made, i);
        const std::uint64_t begin = i * 1000 + late, end = begin + (is_large(i) ? kLong : kShort);
        made.report.timeline[1].calls.push_back({0, begin, end});
        if (is_large(i)) made.row().slow.push_back({1, 0, begin, end, 0.8});
    }
    return made;
}

bool tells_concurrent(Made& made) {
    const Kinds kinds = made.kinds();
    return std::ranges::find(kinds, "concurrent") != kinds.end();
}

/// `name` of the catalogue, which waits.
Made waiting(const std::string& name) {
    Made made;
    made.info.functions[0].name = made.row().name = name;
    made.info.functions[0].waits = made.info.functions[0].busy_waits = true;
    for (std::size_t i = 0; i < kCalls; ++i)
        made.call(made.waiting());
    return made;
}

std::string last_text(Made& made) {
    made.kinds();
    return made.found.hints.back().text;
}

}  // namespace

TEST_CASE("Two threads that do the same level of a parallel region are not a cause of each other") {
    for (const std::uint64_t late : {2U, 20U}) {
        Made made = multigrid(late);
        CHECK(!tells_concurrent(made));
        CHECK(hints::side_by_side(made.info, made.report, 0, made.row().slow).share == Approx(1));
    }
}

TEST_CASE("Even where the one of them is done before the other begins, when there is little to do") {
    Made made = multigrid(45);
    for (score::TimedCall& call : made.report.timeline[1].calls)
        if (call.end - call.begin == kShort) call.begin = (call.end += 100) - kShort;
    CHECK(!tells_concurrent(made));
}

TEST_CASE("Even where another program has the processor of one of them for a while") {
    Made made = two_threads();
    for (std::size_t i = 0; i < kCalls; ++i) {
        add_call(made, i);
        const std::uint64_t begin = i * 1000 + made.below(is_large(i) ? 100 : 60);
        made.report.timeline[1].calls.push_back(
            {0, begin, begin + (is_large(i) ? kLong - 250 + made.below(600) : kShort)});
    }
    CHECK(hints::side_by_side(made.info, made.report, 0, made.row().slow).share > 0.9);
    CHECK(!tells_concurrent(made));
}

TEST_CASE("Who is inside the same parallel region works side by side, whenever it begins") {
    for (const auto* name : {"GOMP_parallel", "__kmpc_fork_call", "read"}) {
        Made made = two_threads_and(name);
        for (std::size_t i = 0; i < kCalls; ++i) {
            add_call(made, i);
            if (!is_large(i)) continue;
            // The other thread gets its processor late, and is slow.
            const std::uint64_t begin = i * 1000 + 140;
            made.report.timeline[1].calls.push_back({0, begin, begin + kLong});
            made.report.timeline[0].calls.push_back({1, i * 1000 - 5, begin + kLong + 5});
        }
        INFO(name);
        const bool region = std::string{name} != "read";
        CHECK((hints::side_by_side(made.info, made.report, 0, made.row().slow).share > 0.9) == region);
        CHECK(tells_concurrent(made) != region);
    }
}

TEST_CASE("A thread that makes many short calls meanwhile does not work side by side") {
    Made made = two_threads();
    for (std::size_t i = 0; i < kCalls; ++i) {
        add_call(made, i);
        if (!is_large(i)) continue;
        for (std::uint64_t at = i * 1000 + made.below(10); at + 10 < i * 1000 + kLong; at += 10)
            made.report.timeline[1].calls.push_back({0, at, at + 9});
    }
    CHECK(hints::side_by_side(made.info, made.report, 0, made.row().slow).share < 0.1);
    CHECK(tells_concurrent(made));
}

TEST_CASE("What they call inside of it is no cause either, and what a third thread does is one") {
    for (const bool third : {false, true}) {
        Made made = multigrid(10);
        for (const auto* name : {"inner", "hog"}) {
            made.info.functions.push_back(made.info.functions[0]);
            made.info.functions.back().name = name;
        }
        auto& second = made.report.timeline[1].calls;
        for (std::size_t i = 0, calls = second.size(); i < calls; ++i)
            if (second[i].end - second[i].begin == kLong)
                second.push_back({1, second[i].begin + 1, second[i].end - 1});
        made.report.threads.push_back({.tid = 9, .name = "third"});
        made.report.timeline.resize(3);
        if (third)
            for (const score::SlowCall& call : made.row().slow)
                if (call.thread == 0) made.report.timeline[2].calls.push_back({2, call.begin, call.end});
        CHECK(tells_concurrent(made) == third);
        if (third) CHECK(made.found.hints[0].concurrent_function == "hog");
    }
}

TEST_CASE("Calls that both make all through a region are compared with those of other regions") {
    Made made = two_threads();
    for (std::size_t i = 0; i < kCalls; ++i) {
        add_call(made, i);
        // The planes of its level, at times of its own.
        const std::uint64_t step = is_large(i) ? 110 : 23, end = i * 1000 + (is_large(i) ? kLong : kShort);
        for (std::uint64_t at = i * 1000 + made.below(20); at + step < end; at += step)
            made.report.timeline[1].calls.push_back({0, at, at + step - 1});
    }
    CHECK(!tells_concurrent(made));
    // They would be a cause if the others were not so accompanied.
    std::erase_if(made.report.timeline[1].calls,
                  [](const score::TimedCall& call) { return !is_large(call.begin / 1000); });
    CHECK(tells_concurrent(made));
}

TEST_CASE("Threads that disturb each other in the same function are told") {
    Made made = two_threads();
    for (std::size_t i = 0; i < kCalls; ++i) {
        add_call(made, i);
        // The other one is inside for most of the slow calls, and never during the others.
        const std::uint64_t begin = i * 1000 + (is_large(i) ? 60 + made.below(60) : kLong + made.below(200));
        made.report.timeline[1].calls.push_back({0, begin, begin + 230});
        if (is_large(i)) made.report.timeline[1].calls.push_back({0, begin + 235, begin + 235 + 140});
    }
    CHECK(hints::side_by_side(made.info, made.report, 0, made.row().slow).share < 0.1);
    CHECK(tells_concurrent(made));
}

TEST_CASE("Among many threads some call always begins at the same time, which means nothing") {
    Made made = two_threads();
    for (std::size_t i = 0; i < kCalls; ++i)
        add_call(made, i);
    made.report.timeline.resize(40);
    for (std::size_t t = 1; t < made.report.timeline.size(); ++t)
        for (std::uint64_t at = made.below(kLong); at < kCalls * 1000; at += kLong)
            made.report.timeline[t].calls.push_back({0, at, at + kLong});
    CHECK(hints::side_by_side(made.info, made.report, 0, made.row().slow).share < 0.2);
}

TEST_CASE("Who waits for the others at the end of a region is not what they are slow for") {
    for (const auto* name : {"GOMP_barrier", "__kmpc_barrier", "pthread_barrier_wait", "GOMP_parallel",
                             "pthread_join", "pthread_cond_wait", "update"}) {
        Made made = two_threads_and(name);
        for (std::size_t i = 0; i < kCalls; ++i) {
            add_call(made, i);
            if (is_large(i)) made.report.timeline[1].calls.push_back({1, i * 1000, i * 1000 + 450});
        }
        INFO(name);
        CHECK(tells_concurrent(made) == (std::string{name} == "update"));
    }
}

TEST_CASE("What is lost in the work of a region is not said to be lost waiting") {
    Made made = waiting("GOMP_parallel");
    made.info.objects.resize(1);
    made.info.objects[0].base = 0x10000;
    made.info.functions[0].address = 0x100;
    made.info.functions[0].size = 0x50;
    for (score::ScoredCall& call : made.row().sample.calls)
        call.inside = 1;
    made.report.threads_ns = 1e9;
    made.row().lost_ns = 1e6;
    made.row().rdam_self = 0.14e-3;
    made.info.functions.push_back(made.info.functions[0]);
    score::FunctionRow resid, other;
    resid.function = other.function = 1;
    resid.name = "resid_";
    resid.callers = {{.address = 0x10120, .calls = 5, .lost_ns = 9e5}};
    other.name = "other";
    other.callers = {{.address = 0x10180, .calls = 5, .lost_ns = 9e6}};
    made.report.functions.push_back(resid);
    made.report.functions.push_back(other);
    CHECK(last_text(made) ==
          "86 % of the time lost in GOMP_parallel() is lost in the calls inside it, most of it in resid_(): "
          "look "
          "at these");
    CHECK(made.found.hints.back().kind == hints::HintKind::inside);
    SECTION("where it is lost there") {
        made.row().rdam_self = 0.9e-3;
        CHECK(last_text(made) ==
              "this function runs the parallel region itself, besides waiting for other threads: at least 10 "
              "% of "
              "the loss is in the calls inside it, the rest in waiting or in code that is not recorded");
    }
    SECTION("and no function is named where several lose") {
        made.report.functions[2].callers[0].address = 0x10130;
        made.report.functions[2].callers[0].lost_ns = 8.9e5;
        CHECK_THAT(last_text(made), Catch::Contains("most of it in resid_()"));
        made.report.functions.push_back(made.report.functions[2]);
        CHECK_THAT(last_text(made), Catch::Contains("in the calls inside it: look at these"));
    }
    SECTION("and nothing is known of it if only a sample is recorded") {
        made.row().sampled = true;
        CHECK_THAT(last_text(made), !Catch::Contains("inside it, most"));
    }
}

TEST_CASE(
    "A function that runs the program's code is not said to wait if no call inside distinguishes the two") {
    Made region = waiting("__kmpc_fork_call");
    CHECK_THAT(last_text(region),
               Catch::StartsWith("this function runs the parallel region itself, besides waiting"));
    Made tasks = waiting("GOMP_taskwait");
    CHECK_THAT(last_text(tasks), Catch::StartsWith("this function runs tasks itself, besides waiting"));
    Made barrier = waiting("GOMP_barrier");
    CHECK_THAT(last_text(barrier), Catch::StartsWith("this function waits (it spins"));
}

TEST_CASE("What waits by design is not to be found out about") {
    for (const auto* name : {"pthread_join", "_ZNSt6thread4joinEv"}) {
        Made made = waiting(name);
        CHECK(last_text(made) == "this function waits for a thread's end, which is its purpose");
    }
}
