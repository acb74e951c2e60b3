// What is said of groups of functions and of marks in the ranking, with and without a script.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/output/html/report_html.h"
#include "analyzer/score/report/ranking.h"

namespace rdam::output {

/// `told`, `by_design`, `at_floor`.
const char* standing_name(score::Standing standing);

/// Above the functions of a standing; empty for those that come first.
std::string standing_text(const score::Report& report, score::Standing standing);

/// What the marks in front of scores and calls mean: `[[mark, text], …]`.
nlohmann::ordered_json marks_json();

/// Those that the report has, in one line; empty: there are none.
std::string marks_text(const score::Report& report);

}  // namespace rdam::output
