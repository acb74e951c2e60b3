#include "analyzer/score/report/recording_cost.h"

#include <algorithm>

namespace rdam::score {

RecordingCost recording_cost(const std::vector<ThreadCost>& threads, double duration_ns, double at_a_time) {
    RecordingCost cost;
    double most = 0;
    double work = 0;
    for (const ThreadCost& thread : threads) {
        cost.probes_ns += thread.probes_ns;
        cost.pauses_ns += thread.pauses_ns;
        cost.waits_ns += thread.waits_ns;
        cost.agent_ns += thread.agent_ns;
        cost.switches_ns += thread.switches_ns;
        const double held =
            (thread.probes_ns + thread.pauses_ns + thread.switches_ns) * thread.stretch + thread.agent_ns;
        work += held;
        most = std::max(most, held + thread.waits_ns);
    }
    // A thread that waits for room leaves its processor to others.
    const double spread = at_a_time > 0 ? work / std::max(at_a_time, 1.0) : 0;
    const double own = std::max(duration_ns - std::max(most, spread), 0.0);
    if (duration_ns > 0) cost.slowdown = own * kMaxTold > duration_ns ? duration_ns / own : kMaxTold;
    return cost;
}

}  // namespace rdam::score
