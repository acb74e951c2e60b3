// `perf report --stdio` of any event, as wrappers/list/perf_text.h reads it: a report for each event of the
// text, of grouped ones, which share a table, too.
#pragma once

#include <string_view>

#include "analyzer/causes/formats.h"

namespace rdam::causes {

bool is_perf_events(std::string_view text);
CauseReports parse_perf_events_text(std::string_view text, std::string_view origin);

/// Whether an event (`cycles:ppp`, `cpu_core/instructions/`) tells where the program works and not what
/// disturbs it.
bool counts_work(std::string_view event);

}  // namespace rdam::causes
