#include <algorithm>

#include "analyzer/output/drawing.h"
#include "analyzer/output/fields.h"
#include "analyzer/output/table.h"
#include "analyzer/output/text.h"
#include "tools/base/printable.h"

namespace rdam::output {
namespace {

std::string name_of(const score::FunctionRow& row) {
    return printable(row.shown);
}

}  // namespace

std::size_t histogram_columns(std::size_t width, std::size_t others, std::size_t widest_name) {
    constexpr std::size_t kUsual = 40, kLeast = 8, kFew = 30, kMost = 120;
    if (width == 0) return kUsual;
    const auto beside = [&](std::size_t name) { return width - std::min(width, others + name); };
    const std::size_t columns = beside(widest_name);
    if (columns >= kFew) return std::min(columns, kMost);
    return std::clamp(beside(std::min(widest_name, Table::kMinShortened)), kLeast, kFew);
}

std::vector<std::string> histogram_lines(
    const std::vector<std::reference_wrapper<const score::FunctionRow>>& rows, const TextOptions& options) {
    constexpr std::size_t kIndent = 2, kGaps = 6, kTitle = 3, kFunction = 8;  // as wide as the titles
    std::size_t name = kFunction, min = kTitle, max = kTitle;
    for (const score::FunctionRow& row : rows) {
        if (row.bars.empty()) continue;
        name = std::max(name, std::min(display_width(name_of(row)), kWidestNameCell));
        min = std::max(min, display_width(call_time_text(row, row.min_ns)));
        max = std::max(max, display_width(call_time_text(row, row.max_ns)));
    }
    const std::size_t columns = histogram_columns(options.width, kIndent + kGaps + min + max, name);
    Table table{{{.title = "function", .left = true, .widest = kWidestNameCell},
                 {.title = "min"},
                 {.title = "calls", .left = true},
                 {.title = "max", .left = true}}};
    for (const score::FunctionRow& row : rows)
        if (!row.bars.empty())
            table.add({name_of(row), call_time_text(row, row.min_ns), histogram_text(row.bars, columns),
                       call_time_text(row, row.max_ns)});
    return table.lines(kIndent, options.width);
}

}  // namespace rdam::output
