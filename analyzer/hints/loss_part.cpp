#include "analyzer/hints/loss_part.h"

#include <algorithm>

#include "tools/trace/clock.h"

namespace rdam::hints {
namespace {

double off_ns(const score::ScoredCall& call) {
    return std::min(call.blocked_ns + call.preempted_ns, call.lost_ns);
}

}  // namespace

LossPart loss_part(const trace::TraceInfo& info, const score::Report& report, const Activities& activities,
                   const score::FunctionRow& row, bool on_processor) {
    LossPart loss{.info = info,
                  .report = report,
                  .activities = activities,
                  .function = info.functions[row.function],
                  .row = row,
                  .ns_per_tick = trace::nanoseconds_per_tick(info.clock),
                  .lost = {}};
    for (const score::ScoredCall& call : row.sample.calls) {
        loss.lost.push_back(call.lost_ns - (on_processor ? off_ns(call) : 0));
        loss.lost_ns += loss.lost.back() * call.weight;
        loss.calls += call.weight;
    }
    return loss;
}

// What a call loses is at most what it loses by itself and what the calls inside it lose.
double lost_inside(const LossPart& loss) {
    const score::FunctionRow& row = loss.row;
    const bool calls =
        std::ranges::any_of(row.sample.calls, [](const auto& call) { return call.inside > 0; });
    if (row.sampled || !calls || !(row.lost_ns > 0)) return 0;
    return std::clamp(1 - row.rdam_self * loss.report.threads_ns / row.lost_ns, 0.0, 1.0);
}

bool switches_known(const score::Report& report, std::uint64_t end) {
    using State = trace::SwitchInfo::State;
    const trace::SwitchInfo& switches = report.switches;
    return switches.state == State::recorded || (switches.state == State::stopped && end <= switches.until);
}

}  // namespace rdam::hints
