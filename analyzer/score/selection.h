// A report about a part of a trace: a window of time, some threads, some functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/score/report.h"
#include "analyzer/score/settings.h"
#include "analyzer/score/window.h"

namespace rdam::score {

/// A Selection with the times and names of one trace.
struct ResolvedSelection {
    std::optional<TickRange> window;
    std::vector<std::uint32_t> threads;  ///< to be analyzed: indices, rising
    std::vector<bool> shown;             ///< by function
    std::uint64_t run_begin = 0;         ///< ticks: where this process's part of the run begins
};

/// Errors: a thread or function that the trace does not have, unless Selection::may_miss.
Result<ResolvedSelection> resolve_selection(const trace::TraceInfo& info, const Selection& selection);

/// When the process's first thread began, by the wall clock.
std::uint64_t start_unix_ns(const trace::TraceInfo& info);

/// What came of the threads, by thread index; null where a thread was not analyzed.
struct SelectedThreads {
    std::vector<std::unique_ptr<ThreadAnalysis>> analyses;
    std::vector<std::unique_ptr<EventWindow>> windows;  ///< null without a window
};

/// As make_report(), of the selected threads. Their lives T are the part within the window; those that have
/// none there are left out.
Report make_report_of_part(const TraceFacts& facts, const ResolvedSettings& settings, const Selection& asked,
                           const ResolvedSelection& selection, SelectedThreads threads,
                           std::size_t most_sequences, std::size_t most_patterns);

}  // namespace rdam::score
