// The section of one function, and its row in the ranking. What its charts are drawn from comes from the sample of
// its calls (analyzer/score): figures over it are estimates, and say so on the page.
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

/// What every function has: name, score, times.
nlohmann::ordered_json row_json(const score::FunctionRow& row);

/// What may explain its score, as sentences, the reservations at the end.
std::vector<std::string> hint_sentences(const score::FunctionRow& row, const hints::Hints& found);

/// All else.
nlohmann::ordered_json details_json(const PageRun& run, const score::FunctionRow& row, const RunClock& clock,
                                    const PageLimits& limits);

/// `tid name`.
std::string thread_name(const score::ThreadRow& thread);

}  // namespace rdam::output
