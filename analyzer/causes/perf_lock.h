// `perf lock report` and `perf lock contention` (also -b, -l and -v, whose call stacks count as callers): the
// share of the time waited, or of the number of waits where times are not printed.
#pragma once

#include <string_view>

#include "analyzer/causes/formats.h"

namespace rdam::causes {

bool is_perf_lock(std::string_view text);
CauseReports parse_perf_lock(std::string_view text, std::string_view origin);

}  // namespace rdam::causes
