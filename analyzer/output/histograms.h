// How the durations of functions are distributed, a line for each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyzer/output/text.h"
#include "analyzer/report/report.h"

namespace rdam::output {

/// Titles, and a line for each of `rows` that has FunctionRow::bars, as wide as the terminal.
std::vector<std::string> histogram_lines(
    const std::vector<std::reference_wrapper<const score::FunctionRow>>& rows, const TextOptions& options);

/// How many columns a histogram has in lines of `width` (0: any, and it has the usual), beside `others` and
/// names of `widest_name`, which may be shortened for it.
std::size_t histogram_columns(std::size_t width, std::size_t others, std::size_t widest_name);

}  // namespace rdam::output
