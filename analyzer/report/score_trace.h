// A trace in, its scores out.
#pragma once

#include <cstdint>
#include <functional>

#include "analyzer/report/report.h"
#include "analyzer/report/selection.h"
#include "analyzer/score/resolved_settings.h"
#include "analyzer/settings/settings.h"
#include "tools/trace/reader.h"

namespace rdam::score {

/// Looks up the names in `settings`. Errors: a function or parameter that the trace does not have.
Result<ResolvedSettings> resolve(const trace::TraceInfo& info, const Settings& settings);

/// The same, and calls are kept for hints.
ResolvedSettings with_samples(const trace::TraceInfo& info, ResolvedSettings settings);

/// Called now and then, by the calling thread, with the number of events read so far; null: not needed. An
/// exception from it ends the reading at once and passes on to the caller.
using ReadProgress = std::function<void(std::uint64_t events)>;

/// Reads the selected threads of the trace, several at a time; or, where `settings` want one, takes what is kept of
/// them (analyzer/report/summary.h). The result does not depend on either. `resolved`: resolve(), of these settings.
Result<AnalyzedTrace> read_trace(const trace::TraceReader& reader, const ResolvedSettings& resolved,
                                 const Settings& settings, const ReadProgress& progress);

struct ScoreOptions {
    std::size_t max_sequences = 1000;  ///< listed for each function
    std::size_t max_patterns = 1000;   ///< listed in all
    bool samples = false;              ///< keeps samples of the calls, for hints
    ReadProgress progress = {};
};

/// All of these steps. Errors: those of resolve() and read_trace().
Result<Report> score_trace(const trace::TraceReader& reader, const Settings& settings,
                           const ScoreOptions& options);

}  // namespace rdam::score
