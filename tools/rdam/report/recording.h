// A trace with all that its part of the page refers to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyzer/hints/hints.h"
#include "analyzer/output/html/report_html.h"
#include "analyzer/output/symbols.h"
#include "analyzer/settings/settings.h"
#include "analyzer/views/around.h"
#include "tools/base/result.h"
#include "tools/trace/reader.h"

namespace rdam {

struct Recording {
    trace::TraceReader reader;
    std::unique_ptr<output::Symbols> symbols;
    hints::Analysis analysis;
    std::vector<around::Surroundings> around;
};

/// Shows its progress. Throws std::runtime_error if it is interrupted.
Result<Recording> analyze_recording(trace::TraceReader reader, const score::Settings& settings);

/// Refers to `recording`.
output::PageRun page_run(const std::string& file, const Recording& recording);

}  // namespace rdam
