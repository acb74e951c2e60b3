// Patterns of names.
#pragma once

#include <string_view>

namespace rdam {

/// Whether `pattern` matches `name`: literally, or as a glob of `*`, `?` and `[...]`.
bool glob_match(std::string_view pattern, std::string_view name);

}  // namespace rdam
