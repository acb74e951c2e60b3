// What the charts of a function's section are drawn from. All of it comes from the sample of its calls
// (analyzer/score): figures over it are estimates, and say so on the page.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "analyzer/output/html/limits.h"
#include "analyzer/output/html/report_html.h"
#include "analyzer/report/report.h"
#include "tools/trace/event.h"

namespace rdam::output {

/// A run's clock, for positions in the run.
struct RunClock {
    std::uint64_t begin = 0;  ///< ticks
    double ns_per_tick = 1;

    /// Nanoseconds since the run's start; 0 for what was before.
    double since_begin(std::uint64_t tsc) const {
        return tsc > begin ? static_cast<double>(tsc - begin) * ns_per_tick : 0;
    }
};

RunClock run_clock(const trace::TraceInfo& info, const score::Report& report);

/// `{bins: [[begin_ns, min, median, p99], …], calls: [[begin_ns, duration_ns, lost_ns, thread], …]}`, how the
/// durations move over the run. Bins without calls are left out.
nlohmann::ordered_json drift_json(const score::Report& report, const score::FunctionRow& row,
                                  const RunClock& clock, const PageLimits& limits);

/// A plot for each variable of the calls that was asked what it explains, and for each key:
/// `{name, explains, rdam_with_key, …}`, or `{name, key: true, …}`. Either has `points`
/// (`[[value, duration_ns], …]`), or, where the order of the values means nothing (addresses, texts,
/// callers), `values`
/// (`[{value, calls, min, median, p99}, …]`): the commonest ones, the slowest first, then one with `others`
/// for `value`, the number of the rest. Neither: there is nothing to compare.
nlohmann::ordered_json parameters_json(const PageRun& run, const score::FunctionRow& row,
                                       const PageLimits& limits);

}  // namespace rdam::output
