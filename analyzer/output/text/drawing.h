// Pictures within a line of text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "analyzer/output/text/table.h"
#include "analyzer/output/text/text.h"
#include "analyzer/score/report/report.h"

namespace rdam::output {

/// `██████▍   `: a bar of `share` (0…1) of `width` columns, filled with blanks. More than nothing is at least
/// an eighth of a column.
std::string bar_text(double share, std::size_t width);

/// The bar beside a score. No score, no bar.
template <typename Row>
std::string score_bar(const Row& row) {
    constexpr std::size_t kColumns = 10;
    return row.few_windows ? "" : bar_text(row.rdam, kColumns);
}

/// Its column, left out where there is no room for it.
inline Column bar_column() {
    constexpr unsigned kFirst = 10;
    return {.title = "", .left = true, .optional = kFirst};
}

/// A function and, if there is room, what it waits for by design (empty: nothing).
std::string name_with_reason(const std::string& name, const std::string& reason, const TextOptions& options);

/// Longer cells with names are shortened, even where the lines may have any length.
inline constexpr std::size_t kWidestNameCell = 60;

/// The lines of a table of functions. Only a terminal that is wide enough has bars.
std::vector<std::string> function_lines(const Table& table, const TextOptions& options);

/// `▁▂█▅▁ ▁▁`: one column for each bar, as high as the logarithm of its calls, so that a few slow ones among
/// millions are seen.
std::string histogram_text(std::span<const score::Bar> bars);

}  // namespace rdam::output
