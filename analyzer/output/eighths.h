// Block characters, which fill a column of text in eighths.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace rdam::output {

inline constexpr std::size_t kEighths = 8;

/// By their height in eighths.
inline constexpr const char* kUprightBlocks[kEighths + 1] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
/// By their width in eighths.
inline constexpr const char* kFlatBlocks[kEighths + 1] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};

/// `share` (0…1) of `columns` columns, in eighths; 0 only if nothing is there.
inline std::size_t eighths(double share, std::size_t columns) {
    if (!(share > 0)) return 0;
    const double filled = std::round(std::min(share, 1.0) * static_cast<double>(columns * kEighths));
    return std::max<std::size_t>(static_cast<std::size_t>(filled), 1);
}

}  // namespace rdam::output
