#include "analyzer/output/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tools/base/name_text.h"
#include "tools/base/printable.h"

namespace rdam::output {

std::string Style::wrap(std::string_view code, std::string_view text) const {
    if (!color_) return std::string{text};
    std::string out = "\x1b[";
    out.append(code).append("m").append(text).append("\x1b[0m");
    return out;
}

std::string hidden_rows(std::size_t count) {
    return fmt::format(" … {} more (--top 0 shows all)", count);
}

namespace {

/// What each of some texts has become, and which texts became the same.
class Shortened {
  public:
    explicit Shortened(std::set<std::string> cells) : cells_(std::move(cells)) {}

    std::string& text(const std::string& cell) { return texts_[cell]; }

    /// The sets of different texts that are the same now, each in its order.
    std::vector<std::vector<std::string>> alike() const {
        std::map<std::string_view, std::vector<std::string>> by_text;
        for (const auto& [cell, text] : texts_)
            by_text[text].push_back(cell);
        std::vector<std::vector<std::string>> groups;
        for (auto& [text, cells] : by_text)
            if (cells.size() > 1) groups.push_back(std::move(cells));
        return groups;
    }

    const std::set<std::string>& cells() const { return cells_; }

  private:
    std::set<std::string> cells_;
    std::map<std::string, std::string> texts_;
};

std::size_t common_beginning(std::string_view a, std::string_view b) {
    return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

/// The beginning of a name, and the piece from which on no other of its group is the same. `group` is sorted.
std::string around_difference(const std::vector<std::string>& group, std::size_t index, std::size_t widest) {
    const std::string& name = group[index];
    std::size_t differs = 0;
    if (index > 0) differs = common_beginning(name, group[index - 1]);
    if (index + 1 < group.size()) differs = std::max(differs, common_beginning(name, group[index + 1]));
    constexpr std::size_t kBefore = 6;
    const std::size_t half = (widest - 1) / 2;
    std::size_t begin = differs - std::min(differs, kBefore);
    const auto is_inside = [&](std::size_t at) {
        return at > 0 && at < name.size() && (static_cast<unsigned char>(name[at]) & 0xc0U) == 0x80U;
    };
    while (is_inside(begin))
        --begin;
    return shortened(name, widest - half) + shortened(std::string_view{name}.substr(begin), half);
}

/// Cells that would become equal keep more, up to twice as much; those that differ only deep inside show that
/// place, and those that cannot be told apart even so are numbered.
Shortened shorten(std::set<std::string> cells, std::size_t widest) {
    Shortened names(std::move(cells));
    for (const std::string& cell : names.cells())
        names.text(cell) = shortened_name(cell, widest);
    for (std::size_t width = widest + widest / 2; width <= 2 * widest; width += widest / 2)
        for (const auto& group : names.alike())
            for (const std::string& cell : group)
                names.text(cell) = shortened_name(cell, width);
    for (const auto& group : names.alike())
        for (std::size_t i = 0; i < group.size(); ++i)
            names.text(group[i]) = around_difference(group, i, 2 * widest);
    for (const auto& group : names.alike())
        for (std::size_t i = 0; i < group.size(); ++i)
            names.text(group[i]) += fmt::format(" #{}", i + 1);
    return names;
}

/// Shortens the cells of a column. A reader must be able to distinguish two rows.
void shorten(std::vector<std::vector<std::string>>& rows, std::size_t column, std::size_t widest) {
    const auto is_long = [&](const auto& row) { return display_width(row[column]) > widest; };
    if (std::ranges::none_of(rows, is_long)) return;
    std::set<std::string> cells;
    for (const auto& row : rows)
        cells.insert(row[column]);
    Shortened names = shorten(std::move(cells), widest);
    for (auto& row : rows)
        row[column] = names.text(row[column]);
}

}  // namespace

std::vector<std::string> shortened_apart(std::vector<std::string> names, std::size_t widest) {
    Shortened texts = shorten({names.begin(), names.end()}, widest);
    for (std::string& name : names)
        name = texts.text(name);
    return names;
}

std::vector<std::string> paragraph(std::string_view text, std::size_t width, std::string_view first) {
    constexpr std::size_t kLeastWidth = 40;
    const std::string indent(display_width(first), ' ');
    std::vector<std::string> lines{std::string{first}};
    std::size_t used = indent.size();
    for (bool begins = true; !text.empty(); begins = false) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t wide = display_width(word);
        if (!begins && width > 0 && used + 1 + wide > std::max(width, kLeastWidth)) {
            lines.push_back(indent);
            used = indent.size();
        } else if (!begins) {
            lines.back() += ' ';
            ++used;
        }
        lines.back() += word;
        used += wide;
    }
    return lines;
}

/// Of its cells as they are.
std::size_t Table::width_of(std::size_t column) const {
    std::size_t width = display_width(columns_[column].title);
    for (const auto& row : rows_)
        width = std::max(width, display_width(row[column]));
    return width;
}

std::size_t Table::gap(std::size_t column) const {
    constexpr std::size_t kGap = 2;
    return column == 0 ? 0 : columns_[column].bars ? 1 : kGap;
}

template <typename Unwanted>
Table Table::without(const Unwanted& unwanted) const {
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows(rows_.size());
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        if (unwanted(columns_[c])) continue;
        columns.push_back(columns_[c]);
        for (std::size_t r = 0; r < rows_.size(); ++r)
            rows[r].push_back(rows_[r][c]);
    }
    Table table{std::move(columns)};
    table.rows_ = std::move(rows);
    return table;
}

Table Table::without_first_optional() const {
    unsigned first = 1;
    for (const Column& column : columns_)
        first = std::max(first, column.optional);
    return without([&](const Column& column) { return column.optional == first; });
}

Table Table::without_bars() const {
    return without([](const Column& column) { return column.bars; });
}

Table::Layout Table::laid_out(std::size_t indent, std::size_t room) const {
    std::vector<std::string> titles;
    std::size_t total = indent;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        titles.push_back(columns_[c].title);
        total += gap(c) + std::min(width_of(c), columns_[c].widest);
    }
    std::vector<std::vector<std::string>> cells{titles};
    cells.insert(cells.end(), rows_.begin(), rows_.end());

    Layout layout{.lines = {}, .width = indent};
    std::vector<std::size_t> widths(columns_.size(), 0);
    std::size_t spare = room > total ? room - total : 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        std::size_t widest = columns_[c].widest;
        if (const std::size_t width = width_of(c); spare > 0 && width > widest) {
            const std::size_t more = std::min(spare, width - widest);
            widest += more;
            spare -= more;
        }
        if (const std::size_t width = std::min(width_of(c), widest);
            room > 0 && total > room && widest < Column::kAnyWidth && width > kMinShortened) {
            widest = std::max(kMinShortened, width - std::min(width, total - room));
            total -= width - widest;
        }
        shorten(cells, c, widest);
        for (const auto& row : cells)
            widths[c] = std::max(widths[c], display_width(row[c]));
        layout.width += gap(c) + widths[c];
    }
    for (const auto& row : cells) {
        std::string line(indent, ' ');
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const std::string padding(widths[c] - display_width(row[c]), ' ');
            line += std::string(gap(c), ' ') + (columns_[c].left ? row[c] + padding : padding + row[c]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        layout.lines.push_back(std::move(line));
    }
    return layout;
}

std::string Table::left_out_of(const Table& shown, std::size_t indent) const {
    std::string text;
    for (std::size_t c = 0, next = 0; c < columns_.size(); ++c) {
        const Column& column = columns_[c];
        const bool here = next < shown.columns_.size() && shown.columns_[next].title == column.title &&
                          shown.columns_[next].bars == column.bars;
        if (here)
            ++next;
        else
            text += (text.empty() ? "no room for: " : ", ") + (column.bars ? "bars" : column.title);
    }
    return text.empty() ? text : std::string(indent, ' ') + text;
}

std::vector<std::string> Table::lines(std::size_t indent, std::size_t room, std::string* left_out) const {
    const auto is_optional = [](const Column& column) { return column.optional > 0; };
    Table shown = *this;
    Layout layout = laid_out(indent, room);
    while (room > 0 && layout.width > room && std::ranges::any_of(shown.columns_, is_optional)) {
        shown = shown.without_first_optional();
        layout = shown.laid_out(indent, room);
    }
    if (left_out != nullptr) *left_out = left_out_of(shown, indent);
    return std::move(layout.lines);
}

}  // namespace rdam::output
