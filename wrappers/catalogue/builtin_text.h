// The data files, compiled in.
#pragma once

#include <string_view>

namespace rdam {

std::string_view builtin_catalogue_text();
std::string_view builtin_programs_text();

}  // namespace rdam
