// A trace in, scores and the hints that explain them out.
#pragma once

#include <cstddef>

#include "analyzer/score/report/report.h"
#include "analyzer/score/score_trace.h"
#include "analyzer/score/settings/settings.h"
#include "analyzer/trace/read/reader.h"
#include "wrappers/support/result.h"

namespace rdam::analysis {

struct Options {
    std::size_t most_sequences = 1000;  ///< listed for each function
    score::ReadProgress progress;
};

/// Errors: those of score::score_trace().
Result<score::Report> analyze(const trace::TraceReader& reader, const score::Settings& settings,
                              const Options& options);

}  // namespace rdam::analysis
