// The edit distance of two spellings.
#pragma once

#include <cstddef>
#include <string_view>

namespace rdam {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`; `limit` + 1 if more
/// than `limit` are needed.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit);

}  // namespace rdam
