#include "analyzer/output/text/drawing.h"

#include <algorithm>
#include <cmath>

#include "analyzer/output/eighths.h"
#include "wrappers/support/printable.h"

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

std::vector<std::string> function_lines(const Table& table, const TextOptions& options) {
    constexpr std::size_t kRoomForBars = 100;
    return (options.width < kRoomForBars ? table.without_first_optional() : table).lines(1, options.width);
}

std::string name_with_reason(const std::string& name, const std::string& reason, const TextOptions& options) {
    constexpr std::size_t kRoomForReasons = 140;
    std::string text = reason.empty() ? name : name + ", " + reason;
    const bool fits = display_width(text) <= kWidestNameCell;
    return fits && (options.width == 0 || options.width >= kRoomForReasons) ? text : name;
}

std::string histogram_text(std::span<const score::Bar> bars) {
    const auto height = [](const score::Bar& bar) { return std::log1p(static_cast<double>(bar.calls)); };
    double most = 0;
    for (const score::Bar& bar : bars)
        most = std::max(most, height(bar));
    std::string text;
    for (const score::Bar& bar : bars)
        text += kUprightBlocks[most > 0 ? eighths(height(bar) / most, 1) : 0];
    return text;
}

}  // namespace rdam::output
