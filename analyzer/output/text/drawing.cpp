#include "analyzer/output/text/drawing.h"

#include <algorithm>
#include <cmath>

namespace rdam::output {
namespace {

constexpr std::size_t kEighths = 8;
constexpr const char* kWide[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr const char* kHigh[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/// `share` of `whole` eighths; 0 only if nothing is there.
std::size_t eighths(double share, std::size_t whole) {
    if (!(share > 0)) return 0;
    const double filled = std::round(std::min(share, 1.0) * static_cast<double>(whole));
    return std::max<std::size_t>(static_cast<std::size_t>(filled), 1);
}

}  // namespace

std::string bar_text(double share, std::size_t width) {
    const std::size_t filled = eighths(share, width * kEighths);
    std::string text;
    for (std::size_t column = 0; column < filled / kEighths; ++column)
        text += kWide[kEighths];
    text += kWide[filled % kEighths];
    text.append(width - (filled + kEighths - 1) / kEighths, ' ');
    return text;
}

bool has_bars(const TextOptions& options) {
    constexpr std::size_t kRoom = 100;
    return options.width >= kRoom;
}

std::string histogram_text(std::span<const score::Bar> bars) {
    const auto height = [](const score::Bar& bar) { return std::log1p(static_cast<double>(bar.calls)); };
    double most = 0;
    for (const score::Bar& bar : bars)
        most = std::max(most, height(bar));
    std::string text;
    for (const score::Bar& bar : bars)
        text += kHigh[most > 0 ? eighths(height(bar) / most, kEighths) : 0];
    return text;
}

}  // namespace rdam::output
