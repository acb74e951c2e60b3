// Compares two recordings of a program, one with fewer threads: what varies in both varies by itself.
#pragma once

#include "analyzer/report/report.h"

namespace rdam::hints {

/// To each function of `report` with a score from its threshold on, the hint that comes first: `varies_alone`
/// or `with_threads`. Compared is what a call loses as a share of what is not lost, so that calls may have
/// other amounts of work in the two, without what they were preempted for (FunctionRow::off_share). `alone`
/// is the report of the same program, where the function is called by fewer threads; functions that are not,
/// or fewer than kMinCalls times, have no such hint. Returns false if all functions with such a score are so.
bool add_alone_hints(const score::Report& alone, score::Report& report);

}  // namespace rdam::hints
