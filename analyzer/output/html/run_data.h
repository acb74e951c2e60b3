// A recording: its header, the ranking, and the pictures of the whole run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyzer/output/html/function_data.h"
#include "analyzer/output/html/limits.h"
#include "analyzer/output/html/report_html.h"

namespace rdam::output {

/// A line of the header: `Duration`, `12.3 s`.
struct Fact {
    std::string name, value;
};
std::vector<Fact> facts(const PageRun& run);
/// What the scores were made with, where it is not the default.
void add_settings(const score::Comparison& comparison, std::vector<Fact>& facts);

/// The command, or the file where that is not known.
std::string title(const PageRun& run);

/// One object (docs/views.md describes what the page makes of it).
nlohmann::ordered_json run_json(const PageRun& run, const PageLimits& limits);

}  // namespace rdam::output
