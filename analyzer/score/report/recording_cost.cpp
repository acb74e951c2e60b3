#include "analyzer/score/report/recording_cost.h"

#include <algorithm>

namespace rdam::score {

namespace {

/// By how much the costs may be different from what was measured at the start: a processor does much of a
/// probe beside the work around it where that leaves it room, and waits for more where caches are full. A
/// closed gate is a few instructions, of which the programs of docs/field.md felt 0.3 to 0.6; of more gates
/// than there is program, as in a loop that calls a function of a nanosecond, all may be felt.
struct Factors {
    double probes = 1;
    double gates = 1;
    double rest = 1;
};
constexpr Factors kLeast{.probes = 0.6, .gates = 0.3, .rest = 0.7};
constexpr Factors kMost{.probes = 1.6, .gates = 0.6, .rest = 1.3};
constexpr double kAllGates = 1.2;
constexpr double kManyGates = 0.5;  ///< … so many of a thread's time
/// … and what no counter of events shows: other addresses of code and data, caches that the recorder uses,
/// its start and its end.
constexpr double kUnseen = 0.06;

Factors most_of(const std::vector<ThreadCost>& threads, double duration_ns) {
    const auto is_mostly_gates = [&](const ThreadCost& thread) {
        return thread.gates_ns > kManyGates * duration_ns;
    };
    Factors factors = kMost;
    if (std::ranges::any_of(threads, is_mostly_gates)) factors.gates = kAllGates;
    return factors;
}

double slowdown(const std::vector<ThreadCost>& threads, double duration_ns, double at_a_time,
                const Factors& factors, double unseen) {
    double most = 0;
    double work = 0;
    for (const ThreadCost& thread : threads) {
        const double calls = factors.probes * thread.probes_ns + factors.gates * thread.gates_ns;
        const double rest = factors.rest * (thread.pauses_ns + thread.switches_ns);
        const double held = (calls + rest) * thread.stretch + thread.agent_ns;
        work += held;
        most = std::max(most, held + thread.waits_ns);
    }
    // A thread that waits for room leaves its processor to others.
    const double spread = at_a_time > 0 ? work / std::max(at_a_time, 1.0) : 0;
    const double own = std::max(duration_ns - std::max(most, spread), 0.0);
    if (duration_ns <= 0) return 1;
    return std::min((own * kMaxTold > duration_ns ? duration_ns / own : kMaxTold) + unseen, kMaxTold);
}

}  // namespace

RecordingCost recording_cost(const std::vector<ThreadCost>& threads, double duration_ns, double at_a_time) {
    RecordingCost cost;
    for (const ThreadCost& thread : threads) {
        cost.probes_ns += thread.probes_ns;
        cost.gates_ns += thread.gates_ns;
        cost.pauses_ns += thread.pauses_ns;
        cost.waits_ns += thread.waits_ns;
        cost.agent_ns += thread.agent_ns;
        cost.switches_ns += thread.switches_ns;
    }
    cost.slowdown = slowdown(threads, duration_ns, at_a_time, {}, 0);
    cost.least_slowdown = slowdown(threads, duration_ns, at_a_time, kLeast, 0);
    cost.most_slowdown = slowdown(threads, duration_ns, at_a_time, most_of(threads, duration_ns),
                                  threads.empty() ? 0 : kUnseen);
    return cost;
}

}  // namespace rdam::score
