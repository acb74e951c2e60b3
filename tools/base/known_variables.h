// Environment variables that look like the recorder's but are not.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rdam {

/// The variables of the manual, all of which begin with RDAM_.
std::span<const std::string_view> documented_variables();

/// A line for each variable of `environment` (name=value, ends with null) that begins with RDAM_ and that
/// nothing reads, with the nearest name that something does.
std::vector<std::string> unknown_variables(const char* const* environment);

}  // namespace rdam
