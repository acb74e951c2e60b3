// Pictures within a line of text.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "analyzer/output/text/text.h"
#include "analyzer/score/report/report.h"

namespace rdam::output {

/// `██████▍   `: a bar of `share` (0…1) of `width` columns, filled with blanks. More than nothing is at least
/// an eighth of a column.
std::string bar_text(double share, std::size_t width);

/// Whether tables of functions have a bar beside each score: on a terminal that has room for it.
bool has_bars(const TextOptions& options);

/// That bar. No score, no bar.
template <typename Row>
std::string score_bar(const Row& row) {
    constexpr std::size_t kColumns = 10;
    return row.few_windows ? "" : bar_text(row.rdam, kColumns);
}

/// `▁▂█▅▁ ▁▁`: one column for each bar, as high as the logarithm of its calls, so that a few slow ones among
/// millions are seen.
std::string histogram_text(std::span<const score::Bar> bars);

}  // namespace rdam::output
