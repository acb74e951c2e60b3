// The section of one function, and its row in the ranking.
#pragma once

#include <nlohmann/json.hpp>

#include "analyzer/output/html/limits.h"
#include "analyzer/output/html/plots.h"
#include "analyzer/output/html/report_html.h"

namespace rdam::output {

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
