// Variables of the environment that look like the recorder's and are not.
#pragma once

#include <string>
#include <vector>

namespace rdam {

/// A line for each variable of `environment` (name=value, ends with null) that begins with RDAM_ and that
/// nothing reads, with the nearest name that something does.
std::vector<std::string> unknown_variables(const char* const* environment);

}  // namespace rdam
