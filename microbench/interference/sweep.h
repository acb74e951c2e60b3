// Delays as a user types them.
#pragma once

#include <string_view>
#include <vector>

#include "tools/base/result.h"

namespace rdam::microbench {

/// Nanoseconds of a single time (`250ns`), or of the COUNT points of `LOW..HIGH/COUNT`, both ends included,
/// whose logarithms are equally far apart. Errors: anything that is no time, a LOW of zero or not below HIGH,
/// a COUNT below 2 or above 10,000.
Result<std::vector<double>> parse_delays(std::string_view text);

}  // namespace rdam::microbench
