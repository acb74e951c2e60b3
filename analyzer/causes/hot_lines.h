// Where a function spends its time, if a tool reports source lines.
#pragma once

#include <vector>

#include "analyzer/causes/cause_report.h"
#include "analyzer/report/report.h"
#include "tools/trace/event.h"

namespace rdam::causes {

/// Sets FunctionRow::hot_line of functions with lines in the first report that counts work (not
/// CauseReport::disturbs) and has lines.
void add_hot_lines(const std::vector<CauseReport>& reports, const trace::TraceInfo& info,
                   score::Report& report);

}  // namespace rdam::causes
