// Another choice of keys, of folding and of functions, without reading the trace again: groups kept by
// everything that might be a key are merged into the requested ones.
//
// The result is that of an analysis with the requested settings, number for number, with two exceptions: the
// order in which doubles are added up, and the windows of time kept for hints, in which functions that are
// ignored now took up room.
#pragma once

#include "analyzer/report/selection.h"
#include "analyzer/score/resolved_settings.h"
#include "analyzer/score/thread_times.h"
#include "tools/trace/event.h"

namespace rdam::score {

/// `settings` with all parameters and the caller of each function as candidates, and what other baselines
/// need. If groups cannot be merged (deep keys, a sample of the calls), only the latter is changed.
ResolvedSettings with_candidates(const trace::TraceInfo& info, ResolvedSettings settings);

/// The calls are in the same groups.
bool same_groups(const ResolvedSettings& a, const ResolvedSettings& b);

/// Whether regroup() can do it. `kept` is what the trace was analyzed with: with_candidates().
bool can_regroup(const AnalyzedTrace& trace, const ResolvedSettings& kept, const ResolvedSettings& wanted);

/// One for each of trace.threads. Takes time for each group, not for each call.
ThreadList regroup(const AnalyzedTrace& trace, const ResolvedSettings& kept, const ResolvedSettings& wanted);

}  // namespace rdam::score
