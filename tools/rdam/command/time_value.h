// Times as a user types them.
#pragma once

#include <string_view>

#include "tools/base/result.h"

namespace rdam {

/// Nanoseconds of `1.5s`, `200ms`, `30us`, `30µs`, `5ns`, `2min`, or of plain seconds. Errors: anything else,
/// a negative time included.
Result<double> parse_time(std::string_view text);

}  // namespace rdam
