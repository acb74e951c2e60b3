#include <random>
#include <vector>

#include "analyzer/score/call_sample.h"
#include "analyzer/score/thread_times.h"
#include "tests/unit/catch.h"

using rdam::samples::CallSample;
using rdam::score::OffTimes;
using rdam::trace::OffCpu;

TEST_CASE("The time off the processor of a call is what of it lies inside") {
    constexpr std::uint64_t kEnd = 400;
    std::mt19937 random;
    for (int round = 0; round < 200; ++round) {
        std::vector<OffCpu> intervals;
        std::vector<int> state(
            kEnd);  // by tick: 1 blocked, 2 preempted; 0 where it was the recorder or the program
        for (std::uint64_t at = random() % 30; at < kEnd - 30;) {
            const OffCpu off{.out = at,
                             .in = at + 1 + random() % 20,
                             .cpu = 0,
                             .preempted = random() % 2 == 0,
                             .by_recorder = random() % 3 == 0,
                             .by_program = random() % 3 == 0};
            for (std::uint64_t t = off.out; t < off.in; ++t)
                state[t] = off.by_recorder || off.by_program ? 0 : off.preempted ? 2 : 1;
            intervals.push_back(off);
            at = off.in + random() % 20;
        }
        const OffTimes times{intervals};
        for (int i = 0; i < 50; ++i) {
            const std::uint64_t begin = random() % kEnd;
            const std::uint64_t end = begin + random() % (kEnd - begin);
            CallSample sample{1, 0, 0};
            REQUIRE(sample.wants(end - begin));
            sample.take({.begin = begin, .end = end}, {});
            sample.set_off_times([&](std::uint64_t tsc) { return times.until(tsc); });
            std::uint64_t blocked = 0, preempted = 0;
            for (std::uint64_t t = begin; t < end; ++t) {
                blocked += state[t] == 1 ? 1 : 0;
                preempted += state[t] == 2 ? 1 : 0;
            }
            REQUIRE(sample.taken().front().blocked == blocked);
            REQUIRE(sample.taken().front().preempted == preempted);
        }
    }
}
