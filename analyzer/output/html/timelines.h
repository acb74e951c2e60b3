// The timelines of the page: single calls of all threads around the largest losses, and for whom threads waited there.
#pragma once

#include <nlohmann/json.hpp>

#include "analyzer/output/html/function_data.h"
#include "analyzer/output/html/limits.h"
#include "analyzer/output/html/report_html.h"

namespace rdam::output {

/// `[{function, thread, begin, end, call: [begin, end], duration, lost, lanes: [{thread, slices: [[begin, end, name,
/// depth, calls, flags], …], off: [[begin, end, preempted], …], waits: [[begin, end, lane of who is waited for, name],
/// …], left_out, off_left_out}], names, left_out, shortened}]`: times in nanoseconds since the window's begin; `begin`
/// since the run's start. Flags: 1 the call that it is about, 2 not seen to end.
nlohmann::ordered_json timelines_json(const PageRun& run, const RunClock& clock, const PageLimits& limits);

}  // namespace rdam::output
