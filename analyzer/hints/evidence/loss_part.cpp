#include "analyzer/hints/evidence/loss_part.h"

#include <algorithm>

#include "analyzer/trace/clock.h"

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

bool switches_known(const score::Report& report, std::uint64_t end) {
    using State = trace::SwitchInfo::State;
    const trace::SwitchInfo& switches = report.switches;
    return switches.state == State::recorded || (switches.state == State::stopped && end <= switches.until);
}

}  // namespace rdam::hints
