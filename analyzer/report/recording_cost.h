// What recording cost the run that it recorded.
#pragma once

#include <cstdint>
#include <vector>

namespace rdam::score {

/// Sums over all threads, in nanoseconds.
struct RecordingCost {
    double probes_ns =
        0;  ///< calls × what one wrapped call costs in the flow of a program (trace::ClockInfo::flow_ticks)
    double gates_ns = 0;     ///< calls that were not recorded × what a closed gate costs
    double pauses_ns = 0;    ///< the recorder held a thread to work: packed its events, copied its stack
    double waits_ns = 0;     ///< … because the buffers were full
    double agent_ns = 0;     ///< its own process had their processors
    double switches_ns = 0;  ///< context switches took longer because they were recorded
    /// The run lasted about so many times as long as without the recorder, 1 to kMaxTold: by what probes cost
    /// in a program, and at least and at most, which is all that can be known from inside.
    double slowdown = 1;
    double least_slowdown = 1;
    double most_slowdown = 1;
    bool idle_machine = false;  ///< … if no other program had the processors, which is not known
};

/// Above this the run was mostly recording, and the rest is less than the error of the cost.
inline constexpr double kMaxTold = 10;

/// What the recorder cost one thread.
struct ThreadCost {
    double probes_ns = 0;
    double gates_ns = 0;
    double pauses_ns = 0;
    double waits_ns = 0;
    double agent_ns = 0;
    double switches_ns = 0;
    double stretch = 1;  ///< how long it took to get a nanosecond of a processor, which others had as well
};

/// For a run of `duration_ns` in which so many threads on average were on a processor or waited for one at
/// the same time (0: not known). Without the recorder, other programs would also have taken their share of
/// the time. The run is taken to be longer by what its most burdened thread was held up, or, where that is
/// more, by what all of them were, spread over as many: threads that wait for one another do one after the
/// other what the recorder adds to each.
RecordingCost recording_cost(const std::vector<ThreadCost>& threads, double duration_ns, double at_a_time);

}  // namespace rdam::score
