// Another choice of keys, of folding and of functions, without reading the trace again: groups that were kept
// by everything that might be a key are put together to those that are wanted.
//
// What comes of it is what an analysis with the wanted settings gives, number for number, but for the order
// in which doubles are added up; and for the windows of time that are kept for hints, where a function that
// is ignored now took room then.
#pragma once

#include "analyzer/score/selection.h"
#include "analyzer/score/thread/resolved_settings.h"
#include "analyzer/score/thread/thread_times.h"
#include "analyzer/trace/event.h"

namespace rdam::score {

/// `settings` with all parameters and the caller of each function as candidates, and what other baselines
/// need. Where groups cannot be put together (deep keys, a sample of the calls) nothing is changed but the
/// latter.
ResolvedSettings with_candidates(const trace::TraceInfo& info, ResolvedSettings settings);

/// The calls are in the same groups.
bool same_groups(const ResolvedSettings& a, const ResolvedSettings& b);

/// Whether regroup() can do it. `kept` is what the trace was analyzed with: with_candidates().
bool can_regroup(const AnalyzedTrace& trace, const ResolvedSettings& kept, const ResolvedSettings& wanted);

/// One for each of trace.threads. Takes time for each group, not for each call.
ThreadList regroup(const AnalyzedTrace& trace, const ResolvedSettings& kept, const ResolvedSettings& wanted);

}  // namespace rdam::score
