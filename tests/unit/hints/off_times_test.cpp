#include "analyzer/hints/off_times.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

using rdam::hints::add_off_times;
using rdam::score::SampledCall;
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
        for (int i = 0; i < 50; ++i) {
            SampledCall call;
            call.begin = random() % kEnd;
            call.end = call.begin + random() % (kEnd - call.begin);
            SampledCall* calls[] = {&call};
            add_off_times(intervals, 2.0, calls);
            double blocked = 0, preempted = 0;
            for (std::uint64_t t = call.begin; t < call.end; ++t) {
                blocked += state[t] == 1 ? 2 : 0;
                preempted += state[t] == 2 ? 2 : 0;
            }
            REQUIRE(call.blocked_ns == blocked);
            REQUIRE(call.preempted_ns == preempted);
        }
    }
}
