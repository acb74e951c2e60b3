// The data files, compiled in: generate_lines.cpp writes them as Catalogue::lines() and
// KnownPrograms::lines().
#pragma once

#include <string_view>

namespace rdam {

std::string_view builtin_catalogue_lines();
std::string_view builtin_programs_lines();

}  // namespace rdam
