#include "analyzer/report/recording_cost.h"

#include <algorithm>
#include <cmath>

namespace rdam::score {

namespace {

/// By how much the costs may be different from what was measured at the start: a processor does much of a
/// probe beside the work around it where that leaves it room, and waits for more where caches are full. A
/// closed gate is a few instructions, of which most programs feel a quarter to six tenths (docs/field.md: how
/// much longer they took, beside the ranges); in a loop that calls a function of a nanosecond, all is felt.
struct Factors {
    double probes = 1;
    double gates = 1;
    double rest = 1;
};
constexpr Factors kLeast{.probes = 0.6, .gates = 0.25, .rest = 0.7};
constexpr Factors kMost{.probes = 1.6, .gates = 0.58, .rest = 1.3};
constexpr double kAllGates = 1.2;
/// … from where gates would take this part of the run on, and where they would take that, all of them are.
constexpr double kSomeGates = 0.4, kManyGates = 0.8;
/// … and what no counter of events shows: other addresses of code and data, caches that the recorder uses,
/// which has nothing to do with how wrong the costs above are;
constexpr double kUnseen = 0.08;
/// … the start and the end of `rdam record`, up to a part of a short run.
constexpr double kStartNs = 35e6;
constexpr double kMostStart = 0.2;

Factors most_of(const std::vector<ThreadCost>& threads, double duration_ns) {
    double gates_ns = 0;
    for (const ThreadCost& thread : threads)
        gates_ns = std::max(gates_ns, thread.gates_ns);
    const double part = duration_ns > 0 ? gates_ns / duration_ns : 0;
    Factors factors = kMost;
    factors.gates = std::clamp(
        factors.gates + (kAllGates - factors.gates) * (part - kSomeGates) / (kManyGates - kSomeGates),
        factors.gates, kAllGates);
    return factors;
}

double slowdown(const std::vector<ThreadCost>& threads, double duration_ns, double at_a_time,
                const Factors& factors) {
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
    return own * kMaxTold > duration_ns ? duration_ns / own : kMaxTold;
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
    cost.slowdown = slowdown(threads, duration_ns, at_a_time, {});
    cost.least_slowdown = slowdown(threads, duration_ns, at_a_time, kLeast);
    if (threads.empty()) {
        cost.most_slowdown = cost.slowdown;
        return cost;
    }
    const double most = slowdown(threads, duration_ns, at_a_time, most_of(threads, duration_ns));
    const double start = std::min(kStartNs / std::max(duration_ns, 1.0), kMostStart);
    const double half = (most - cost.least_slowdown) / 2;
    cost.most_slowdown = std::min(cost.least_slowdown + half + std::hypot(half, kUnseen) + start, kMaxTold);
    return cost;
}

}  // namespace rdam::score
