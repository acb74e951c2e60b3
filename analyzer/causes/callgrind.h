// Output of callgrind (callgrind.out.PID): one report per event (Ir, D1mr, DLmr, …), with compressed
// names and positions, and inclusive costs from the calls= lines.
#pragma once

#include <string_view>

#include "analyzer/causes/formats.h"

namespace rdam::causes {

bool is_callgrind(std::string_view text);
CauseReports parse_callgrind(std::string_view text, std::string_view origin);

}  // namespace rdam::causes
