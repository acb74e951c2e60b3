// What an analysis keeps of a trace: the times of its threads, in a file beside it. The next analysis makes its report of
// these, without reading the events: it takes as long as there are groups of calls, not calls.
//
// The file is `TRACE.summary` or, where there can be none beside the trace, one in the cache folder (plan_folder()). It is
// good for one trace (trace::TraceIdentity), for settings with one times_key() and for one build of rdam, and says so; any
// other is as if it were not there, and is replaced. docs/analyzer.md has how large it is.
#pragma once

#include <optional>

#include "analyzer/score/resolved_settings.h"
#include "analyzer/score/thread_times.h"
#include "tools/trace/reader.h"

namespace rdam::score {

/// Smaller traces are read at once: no file is worth having beside them.
inline constexpr std::uint64_t kWorthKeeping = 1'000'000;  // events

/// The times of all threads of the trace, as an analysis has kept them. Nothing: there are none that were kept with such
/// settings, or they are damaged. `jobs` threads unpack them.
std::optional<ThreadList> kept_summary(const trace::TraceReader& reader, const ResolvedSettings& settings,
                                       unsigned jobs);

/// Keeps them, if the trace is large enough and nothing is wrong with it. `threads`: one for each of the trace's, read from
/// their begin to their end, without patterns. What cannot be kept is not: that is no error.
void keep_summary(const trace::TraceReader& reader, const ResolvedSettings& settings,
                  const ThreadList& threads, unsigned jobs);

}  // namespace rdam::score
