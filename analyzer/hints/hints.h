// From scores to answers: possible causes of a high score, and what to do about it. docs/hints.md lists them.
//
// Each kind is a Finder, in a file of its own; finders.h lists them. They look at one function's sample of
// calls (score::Sample) and never at the events.
#pragma once

#include <cstddef>

#include "analyzer/report/report.h"
#include "analyzer/report/score_trace.h"
#include "analyzer/settings/settings.h"
#include "tools/base/result.h"
#include "tools/trace/event.h"
#include "tools/trace/reader.h"

namespace rdam::hints {

/// Fills FunctionRow::hints of the rows that have a sample, the hint that is about the largest share of the
/// lost time first.
void add_hints(const trace::TraceInfo& info, score::Report& report);

// Compares two recordings of a program, one with fewer threads: what varies in both varies by itself.

/// To each function of `report` with a score from its threshold on, the hint that comes first: `varies_alone`
/// or `with_threads`. Compared is what a call loses as a share of what is not lost, so that calls may have
/// other amounts of work in the two, without what they were preempted for (FunctionRow::off_share). `alone`
/// is the report of the same program, where the function is called by fewer threads; functions that are not,
/// or fewer than kMinCalls times, have no such hint. Returns false if all functions with such a score are so.
bool add_alone_hints(const score::Report& alone, score::Report& report);

}  // namespace rdam::hints

// A trace in, scores and the hints that explain them out.
namespace rdam::analysis {

struct Options {
    std::size_t most_sequences = 1000;  ///< listed for each function
    score::ReadProgress progress;
};

/// Errors: those of score::score_trace().
Result<score::Report> analyze(const trace::TraceReader& reader, const score::Settings& settings,
                              const Options& options);

}  // namespace rdam::analysis
