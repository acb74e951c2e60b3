// `perf c2c report --stdio`: loads that hit a modified line in another cache (HITM), remote and local, and
// those answered by a peer's cache (Arm), by the function and source line of the access; from the Pareto
// table, whose percentages are those of each cache line.
#pragma once

#include <string_view>

#include "analyzer/causes/formats.h"

namespace rdam::causes {

bool is_perf_c2c(std::string_view text);
CauseReports parse_perf_c2c(std::string_view text, std::string_view origin);

}  // namespace rdam::causes
