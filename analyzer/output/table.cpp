#include "analyzer/output/table.h"

#include <algorithm>

#include "wrappers/support/printable.h"

namespace rdam::output {

std::string Style::wrap(std::string_view code, std::string_view text) const {
    if (!color_) return std::string{text};
    std::string out = "\x1b[";
    out.append(code).append("m").append(text).append("\x1b[0m");
    return out;
}

std::vector<std::string> Table::lines(std::size_t indent) const {
    std::vector<std::string> titles;
    for (const Column& column : columns_)
        titles.push_back(column.title);
    std::vector<std::vector<std::string>> cells{titles};
    cells.insert(cells.end(), rows_.begin(), rows_.end());

    std::vector<std::size_t> widths(columns_.size(), 0);
    for (auto& row : cells) {
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            row[c] = shortened(row[c], columns_[c].widest);
            widths[c] = std::max(widths[c], display_width(row[c]));
        }
    }
    std::vector<std::string> lines;
    for (const auto& row : cells) {
        std::string line(indent, ' ');
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const std::string padding(widths[c] - display_width(row[c]), ' ');
            line += (c == 0 ? "" : "  ") + (columns_[c].left ? row[c] + padding : padding + row[c]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace rdam::output
