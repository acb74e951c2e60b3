// How much of each sampled call its thread was off the processor.
#pragma once

#include <span>

#include "analyzer/calls/crowding.h"
#include "analyzer/score/report/report.h"
#include "analyzer/trace/event.h"
#include "wrappers/support/result.h"

namespace rdam::hints {

/// Fills blocked_ns and preempted_ns of the report's samples; nothing happens where context switches were not
/// recorded. Errors: of TraceReader::off_cpu().
Result<void> add_off_times(const trace::TraceInfo& info, const calls::Absences& off_cpu,
                           score::Report& report);

/// Of the calls of one thread. `intervals` as calls::Absences::thread() gives them.
void add_off_times(std::span<const trace::OffCpu> intervals, double ns_per_tick,
                   std::span<score::SampledCall*> calls);

}  // namespace rdam::hints
