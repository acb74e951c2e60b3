// Pictures within a line of text.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "analyzer/output/table.h"
#include "analyzer/output/text.h"
#include "analyzer/report/report.h"

namespace rdam::output {

/// `██████▍   `: a bar of `share` (0…1) of `width` columns, filled with blanks. More than nothing is at least
/// an eighth of a column.
std::string bar_text(double share, std::size_t width);

/// The bar beside a score, small where there is little room. No score, no bar.
template <typename Row>
std::string score_bar(const Row& row, const TextOptions& options) {
    constexpr std::size_t kRoomForLong = 100, kLong = 10, kShort = 4;
    return row.unknown() ? "" : bar_text(row.rdam, options.width < kRoomForLong ? kShort : kLong);
}

/// Its column. Columns with a higher `optional` are left out before it.
inline Column bar_column(unsigned optional) {
    return {.title = "", .left = true, .optional = optional, .bars = true};
}

/// A function and, if there is room, what it waits for by design (empty: nothing).
std::string name_with_reason(const std::string& name, const std::string& reason, const TextOptions& options);

/// Longer cells with names are shortened, even where the lines may have any length.
inline constexpr std::size_t kWidestNameCell = 60;

/// The lines of a table of functions, and Table::lines()'s `left_out`. Only a terminal has bars.
std::vector<std::string> function_lines(const Table& table, const TextOptions& options,
                                        std::string& left_out);

/// `▁▂█▅▁ ▁▁`: at most `columns`, each as high as the logarithm of the calls in its bars, so that a few slow
/// ones among millions are seen.
std::string histogram_text(std::span<const score::Bar> bars, std::size_t columns);

// Block characters, which fill a column of text in eighths.

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
