// The score of constant work, which comes from the clock's resolution and the machine's noise.
#pragma once

#include "analyzer/statistics/loss.h"
#include "tools/trace/event.h"

namespace rdam::score {

/// The score that so many calls of constant work, `time` long together, would get in a thread that lives for
/// `life`. By each call the error of the clock, as the recorder measured it (trace::ClockInfo::error_ticks;
/// against the plain minimum a step more), and of their time what the machine takes
/// (trace::ProcessInfo::machine_share). 0…1; 0 where the trace does not tell. Times in ticks.
double floor_of(const trace::TraceInfo& info, const Baseline& baseline, double calls, double time,
                double life);

}  // namespace rdam::score
