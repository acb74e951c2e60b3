// A trace in, scores and the hints that explain them out.
#pragma once

#include <cstddef>

#include "analyzer/report/report.h"
#include "analyzer/report/score_trace.h"
#include "analyzer/settings/settings.h"
#include "tools/base/result.h"
#include "tools/trace/reader.h"

namespace rdam::analysis {

struct Options {
    std::size_t most_sequences = 1000;  ///< listed for each function
    score::ReadProgress progress;
};

/// Errors: those of score::score_trace().
Result<score::Report> analyze(const trace::TraceReader& reader, const score::Settings& settings,
                              const Options& options);

}  // namespace rdam::analysis
