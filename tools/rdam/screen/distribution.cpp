#include "tools/rdam/screen/distribution.h"

#include <algorithm>
#include <utility>

#include "analyzer/output/drawing.h"

namespace rdam::screen {
namespace {

std::size_t column_of(const std::vector<score::Bar>& bars, double at_ns) {
    std::size_t column = 0;
    while (column + 1 < bars.size() && at_ns >= bars[column].to_ns)
        ++column;
    return column;
}

Line axis(const std::vector<score::Bar>& bars, const std::vector<Mark>& marks) {
    std::vector<const char*> signs(bars.size(), "─");
    for (const Mark& mark : marks)
        signs[column_of(bars, mark.at_ns)] = "┬";
    std::string text;
    for (const char* sign : signs)
        text += sign;
    return line(std::move(text));
}

/// Puts a name under its mark, to the left where the edge is near; false: something else is there.
bool put(std::string& text, const std::string& name, std::size_t column) {
    if (name.size() > text.size()) return true;
    const std::size_t at = std::min(column, text.size() - name.size());
    const std::size_t from = at > 0 ? at - 1 : 0;
    const std::size_t to = std::min(at + name.size() + 1, text.size());
    if (text.find_first_not_of(' ', from) < to) return false;
    text.replace(at, name.size(), name);
    return true;
}

/// On two lines where they are close to each other.
std::vector<Line> names(const std::vector<score::Bar>& bars, const std::vector<Mark>& marks) {
    std::string texts[2] = {std::string(bars.size(), ' '), std::string(bars.size(), ' ')};
    for (const Mark& mark : marks) {
        const std::size_t column = column_of(bars, mark.at_ns);
        if (!put(texts[0], mark.name, column)) put(texts[1], mark.name, column);
    }
    std::vector<Line> lines;
    for (std::string& text : texts) {
        text.erase(text.find_last_not_of(' ') + 1);
        if (!text.empty() || lines.empty()) lines.push_back(line(std::move(text), Look::faint));
    }
    return lines;
}

}  // namespace

std::vector<Line> drawn(const std::vector<score::Bar>& bars, const std::vector<Mark>& marks,
                        std::size_t height) {
    if (bars.empty()) return {};
    const std::uint64_t most = std::ranges::max(bars, {}, &score::Bar::calls).calls;
    std::vector<Line> lines;
    for (std::size_t row = height; row-- > 0;) {
        std::string text;
        for (const score::Bar& bar : bars) {
            const double share = static_cast<double>(bar.calls) / static_cast<double>(most);
            const std::size_t high = output::eighths(share, height);
            const std::size_t below = row * output::kEighths;
            text += output::kUprightBlocks[high > below ? std::min(high - below, output::kEighths) : 0];
        }
        lines.push_back(line(std::move(text), Look::notable));
    }
    lines.push_back(axis(bars, marks));
    for (Line& each : names(bars, marks))
        lines.push_back(std::move(each));
    return lines;
}

}  // namespace rdam::screen
