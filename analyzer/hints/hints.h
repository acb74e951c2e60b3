// From scores to answers: possible causes of a high score, and what to do about it. docs/hints.md lists them.
//
// Each kind is a Finder, in a file of its own; finders.h lists them. They look at one function's sample of
// calls (score::Sample) and never at the events.
#pragma once

#include "analyzer/report/report.h"
#include "tools/trace/event.h"

namespace rdam::hints {

/// Fills FunctionRow::hints of the rows that have a sample, the hint that is about the largest share of the
/// lost time first.
void add_hints(const trace::TraceInfo& info, score::Report& report);

}  // namespace rdam::hints
