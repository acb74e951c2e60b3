// The text of catalogue.toml, compiled in.
#pragma once

#include <string_view>

namespace rdam {

std::string_view builtin_catalogue_text();

}  // namespace rdam
