// What a thread's context switches come to.
#include "analyzer/score/thread_times.h"
#include "tests/unit/catch.h"

using namespace rdam;
using score::sum_off_cpu;

namespace {

const std::vector<trace::OffCpu> kIntervals = {
    {.out = 100, .in = 150, .cpu = 0, .preempted = false},
    {.out = 200, .in = 203, .cpu = 1, .preempted = true},
    {.out = 300, .in = 400, .cpu = 1, .preempted = false},
};

}  // namespace

TEST_CASE("blocked and preempted times are summed apart") {
    const auto sum = sum_off_cpu(kIntervals, {});
    CHECK(sum.blocked == 150);
    CHECK(sum.preempted == 3);
    CHECK(sum.switches == 3);
    CHECK(sum.preemptions == 1);
}

TEST_CASE("of a window only what lies in it counts") {
    const auto sum = sum_off_cpu(kIntervals, {.begin = 120, .end = 350});
    CHECK(sum.blocked == 30 + 50);
    CHECK(sum.preempted == 3);
    CHECK(sum.switches == 3);
    const auto between = sum_off_cpu(kIntervals, {.begin = 150, .end = 200});
    CHECK(between.switches == 0);
    CHECK(between.blocked + between.preempted == 0);
}

TEST_CASE("what the recorder had the processor for is apart, and no switch more") {
    const std::vector<trace::OffCpu> cut = {
        {.out = 100, .in = 120, .cpu = 1, .preempted = true},
        {.out = 120, .in = 150, .cpu = 1, .preempted = true, .by_recorder = true},
        {.out = 150, .in = 155, .cpu = 1, .preempted = true},
        {.out = 200, .in = 210, .cpu = 1, .preempted = true, .by_recorder = true},
    };
    const auto sum = sum_off_cpu(cut, {});
    CHECK(sum.preempted == 20 + 5);
    CHECK(sum.recorder == 30 + 10);
    CHECK(sum.switches == 2);
    CHECK(sum.preemptions == 2);
}

TEST_CASE("a thread that is never off has nothing") {
    const auto sum = sum_off_cpu({}, {});
    CHECK(sum.switches == 0);
    CHECK(sum.blocked == 0);
}
