// A report about a part of a trace: a window of time, some threads, some functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/calls/call_stream.h"
#include "analyzer/report/report.h"
#include "analyzer/report/scores.h"
#include "analyzer/score/thread_times.h"
#include "analyzer/settings/settings.h"
#include "tools/trace/reader.h"

namespace rdam::score {

/// A Selection with the times and names of one trace.
struct ResolvedSelection {
    std::optional<trace::TickRange> window;
    std::vector<std::uint32_t> threads;  ///< to be analyzed: indices, rising
    std::vector<bool> shown;             ///< by function
    std::uint64_t run_begin = 0;         ///< ticks: where this process's part of the run begins
};

/// Errors: a thread or function that the trace does not have, unless Selection::may_miss.
Result<ResolvedSelection> resolve_selection(const trace::TraceInfo& info, const Selection& selection);

/// When the selected threads run: nanoseconds, counted as Selection::since_ns.
struct Presence {
    double begin_ns = 0, end_ns = 0;  ///< of the first and the last of them
    bool in_window = false;           ///< one of them runs in the window
};
/// Reads no events. Nothing: no selected thread is known to run. Errors: as resolve_selection().
Result<std::optional<Presence>> presence(const trace::TraceReader& reader, const Selection& selection);

/// When the process's first thread began, by the wall clock.
std::uint64_t start_unix_ns(const trace::TraceInfo& info);

/// What came of the threads, by thread index; null where a thread was not analyzed.
struct SelectedThreads {
    ThreadList times;
    std::vector<std::optional<calls::EventWindow>> windows;  ///< none without a window
};

/// A trace, or the requested part of it, ready to be scored.
struct AnalyzedTrace {
    /// With the threads that were analyzed. Their lives T are the part within the window; those that have
    /// none there are left out.
    trace::TraceInfo info;
    trace::Damage damage;
    std::optional<std::uint64_t> run_begin = {};  ///< as TraceFacts
    ThreadList threads;                           ///< one for each of info.threads
    std::vector<std::uint32_t> numbers;  ///< … their indices in the whole trace; empty: all of them
    LeftOut left_out;                    ///< except for functions, which each report selects
    std::uint64_t cut_at_end = 0;        ///< abandoned at the end for no other reason than the window
    std::vector<bool> shown;             ///< by function; empty: all

    TraceFacts facts() const { return {info, damage, run_begin}; }
};

AnalyzedTrace analyzed_trace(const TraceFacts& facts, const Selection& asked,
                             const ResolvedSelection& selection, SelectedThreads threads);

/// The report with what was left out and which threads remain, without the functions that are not to be shown.
Report leave_out(const AnalyzedTrace& trace, Report report);

}  // namespace rdam::score
