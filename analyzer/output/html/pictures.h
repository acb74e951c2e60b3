// The pictures of a whole run: when time was lost, on which paths, and what went on around the largest
// losses.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

#include "analyzer/output/html/limits.h"
#include "analyzer/output/html/plots.h"
#include "analyzer/output/html/report_html.h"

namespace rdam::output {

/// Lost time by thread and time: `{begin, bin, bins, rows: [name, …], cells: [[row, bin, function, lost_ns],
/// …], approximate}`. Functions by their place in `shown` (-1: another one); the threads that lost most have
/// rows, the last row is all the others together. Null: nothing is known of the course.
nlohmann::ordered_json heat_json(const PageRun& run, std::span<const std::uint32_t> shown,
                                 const PageLimits& limits);

/// The tree of paths: `{names, parent: […], name: […], lost: […], time: […], calls: […], left_out}`, of each
/// node what is its own, without the nodes below; parents come first. Small ones are added to their parent's
/// child `(smaller ones)`. Null: not known.
nlohmann::ordered_json icicle_json(const PageRun& run, const PageLimits& limits);

/// `[{function, thread, begin, end, call: [begin, end], duration, lost, lanes: [{thread, slices: [[begin,
/// end, name, depth, calls, flags], …], off: [[begin, end, preempted], …], left_out, off_left_out}], names,
/// left_out, shortened}]`: times in nanoseconds since the window's begin; `begin` since the run's start.
/// Flags: 1 the call that it is about, 2 not seen to end.
nlohmann::ordered_json timelines_json(const PageRun& run, const RunClock& clock, const PageLimits& limits);

}  // namespace rdam::output
