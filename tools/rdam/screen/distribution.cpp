#include "tools/rdam/screen/distribution.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rdam::screen {
namespace {

constexpr const char* kEighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/// Of a bar, in eighths of a line. Where there are calls something is seen.
std::size_t eighths(std::uint64_t calls, std::uint64_t most, std::size_t height) {
    if (calls == 0 || most == 0) return 0;
    const double share = static_cast<double>(calls) / static_cast<double>(most);
    const auto high = static_cast<std::size_t>(std::lround(share * static_cast<double>(height * 8)));
    return std::max<std::size_t>(high, 1);
}

std::size_t column_of(const std::vector<feedback::Bar>& bars, double at_ns) {
    std::size_t column = 0;
    while (column + 1 < bars.size() && at_ns >= bars[column].to_ns)
        ++column;
    return column;
}

Line axis(const std::vector<feedback::Bar>& bars, const std::vector<Mark>& marks) {
    std::vector<const char*> signs(bars.size(), "─");
    for (const Mark& mark : marks)
        signs[column_of(bars, mark.at_ns)] = "┬";
    std::string text;
    for (const char* sign : signs)
        text += sign;
    return line(std::move(text));
}

/// From the mark to the right, or to the left where the edge is near.
Line names(const std::vector<feedback::Bar>& bars, const std::vector<Mark>& marks) {
    std::string text(bars.size(), ' ');
    for (const Mark& mark : marks) {
        const std::size_t width = mark.name.size();
        if (width > bars.size()) continue;
        const std::size_t at = std::min(column_of(bars, mark.at_ns), bars.size() - width);
        const std::size_t from = at > 0 ? at - 1 : 0;
        const std::size_t to = std::min(at + width + 1, bars.size());
        if (text.find_first_not_of(' ', from) < to) continue;
        text.replace(at, width, mark.name);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return line(std::move(text), Look::faint);
}

}  // namespace

std::vector<Line> drawn(const std::vector<feedback::Bar>& bars, const std::vector<Mark>& marks,
                        std::size_t height) {
    if (bars.empty()) return {};
    const std::uint64_t most = std::ranges::max(bars, {}, &feedback::Bar::calls).calls;
    std::vector<Line> lines;
    for (std::size_t row = height; row-- > 0;) {
        std::string text;
        for (const feedback::Bar& bar : bars) {
            const std::size_t high = eighths(bar.calls, most, height);
            text += kEighths[high > row * 8 ? std::min<std::size_t>(high - row * 8, 8) : 0];
        }
        lines.push_back(line(std::move(text), Look::notable));
    }
    lines.push_back(axis(bars, marks));
    lines.push_back(names(bars, marks));
    return lines;
}

}  // namespace rdam::screen
