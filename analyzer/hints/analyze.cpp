#include "analyzer/hints/analyze.h"

#include "analyzer/hints/hints.h"

namespace rdam::analysis {

Result<score::Report> analyze(const trace::TraceReader& reader, const score::Settings& settings,
                              const Options& options) {
    auto report = score::score_trace(
        reader, settings,
        {.most_sequences = options.most_sequences, .samples = true, .progress = options.progress});
    if (report) hints::add_hints(reader.info(), *report);
    return report;
}

}  // namespace rdam::analysis
