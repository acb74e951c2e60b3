#include "analyzer/output/drawing.h"

#include "tools/base/printable.h"

namespace rdam::output {
std::string bar_text(double share, std::size_t width) {
    const std::size_t filled = eighths(share, width);
    std::string text;
    for (std::size_t column = 0; column < filled / kEighths; ++column)
        text += kFlatBlocks[kEighths];
    text += kFlatBlocks[filled % kEighths];
    text.append(width - (filled + kEighths - 1) / kEighths, ' ');
    return text;
}

std::vector<std::string> function_lines(const Table& table, const TextOptions& options,
                                        std::string& left_out) {
    return (options.width == 0 ? table.without_bars() : table).lines(1, options.width, &left_out);
}

std::string name_with_reason(const std::string& name, const std::string& reason, const TextOptions& options) {
    constexpr std::size_t kRoomForReasons = 140;
    std::string text = reason.empty() ? name : name + ", " + reason;
    const bool fits = display_width(text) <= kWidestNameCell;
    return fits && (options.width == 0 || options.width >= kRoomForReasons) ? text : name;
}

std::string histogram_text(std::span<const score::Bar> bars, std::size_t columns) {
    columns = std::min(columns, bars.size());
    std::vector<double> heights;
    for (std::size_t c = 0; c < columns; ++c) {
        std::uint64_t calls = 0;
        for (std::size_t i = c * bars.size() / columns; i < (c + 1) * bars.size() / columns; ++i)
            calls += bars[i].calls;
        heights.push_back(std::log1p(static_cast<double>(calls)));
    }
    const double most = heights.empty() ? 0 : std::ranges::max(heights);
    std::string text;
    for (const double height : heights)
        text += kUprightBlocks[most > 0 ? eighths(height / most, 1) : 0];
    return text;
}

}  // namespace rdam::output
