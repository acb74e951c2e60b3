// The few losses that a reader should know of first, each with what is known of it; or, where there is none, why.
#pragma once

#include <span>

#include "analyzer/hints/hints.h"
#include "analyzer/report/report.h"
#include "tools/trace/event.h"

namespace rdam::hints {

/// Of functions that score at least the threshold, those that lost most time. A function is left out where waiting
/// is its purpose, where constant work would score as much, and where it lost its time in the calls of another finding
/// or in waits by design. A lock and the slow path inside it are one. `functions`: the hints, one for each of
/// report.functions. Needs no events.
Findings find_findings(const trace::TraceInfo& info, const score::Report& report,
                       std::span<const FunctionHints> functions, const VariableAt& variable_at);

}  // namespace rdam::hints
