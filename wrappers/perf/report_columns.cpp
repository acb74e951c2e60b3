#include "wrappers/perf/report_columns.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "tools/base/name_text.h"

namespace rdam {
namespace {

// One of these comes first in any usual report; they also show what separates the titles.
constexpr std::array<std::string_view, 7> kNumberTitles = {"Overhead", "Children", "Self",        "Samples",
                                                           "Period",   "sys",      "Overhead sys"};

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Characters that no demangled or linkage name holds.
bool never_in_names(char c) {
    return std::string_view(";|\t!%^\\\"'`?").find(c) != std::string_view::npos || c < ' ';
}

std::size_t find_title(std::string_view line, std::string_view title) {
    for (auto at = line.find(title); at != std::string_view::npos; at = line.find(title, at + 1)) {
        const auto end = at + title.size();
        if ((at == 0 || !is_word(line[at - 1])) && (end == line.size() || !is_word(line[end]))) return at;
    }
    return std::string_view::npos;
}

/// The character that follows a title and its padding, when it cannot be the beginning of another title.
std::optional<char> separator_of(std::string_view titles) {
    for (const auto title : kNumberTitles) {
        const auto at = find_title(titles, title);
        if (at == std::string_view::npos) continue;
        const auto after = titles.find_first_not_of(' ', at + title.size());
        if (after != std::string_view::npos && !is_word(titles[after])) return titles[after];
        const auto before = titles.substr(0, at).find_last_not_of(' ');
        if (before != std::string_view::npos && before > 0 && !is_word(titles[before])) return titles[before];
    }
    return std::nullopt;
}

}  // namespace

std::optional<PerfNumber> parse_perf_number(std::string_view cell) {
    cell = trim_blanks(cell);
    PerfNumber number;
    if (!cell.empty() && cell.back() == '%') {
        number.percent = true;
        cell.remove_suffix(1);
    }
    if (cell.empty() || cell.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
    const auto* end = cell.data() + cell.size();
    const auto result = std::from_chars(cell.data(), end, number.value, std::chars_format::fixed);
    if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
    return number;
}

bool PerfColumns::looks_like_titles(std::string_view line) {
    if (line.substr(0, 1) != "#") return false;
    const bool counts = std::any_of(kNumberTitles.begin(), kNumberTitles.end(), [&](std::string_view title) {
        return find_title(line, title) != std::string_view::npos;
    });
    const bool names = find_title(line, "Symbol") != std::string_view::npos ||
                       find_title(line, "Shared Object") != std::string_view::npos ||
                       find_title(line, "Command") != std::string_view::npos;
    return counts && names && line.find(" of event") == std::string_view::npos;
}

bool PerfColumns::is_hierarchy(std::string_view titles) {
    return titles.find(" / ") != std::string_view::npos;
}

std::optional<PerfColumns> PerfColumns::from_header(std::string_view titles, std::string_view dots) {
    if (!looks_like_titles(titles) || is_hierarchy(titles)) return std::nullopt;
    PerfColumns columns;
    const bool fixed = dots.substr(0, 1) == "#" && dots.find('.') != std::string_view::npos &&
                       dots.find_first_not_of(" .\r", 1) == std::string_view::npos;
    if (fixed) {
        for (auto at = dots.find('.'); at < dots.size(); at = dots.find('.', dots.find(' ', at)))
            columns.columns_.push_back({"", at});
        for (std::size_t i = 0; i < columns.columns_.size(); ++i) {
            const auto begin = std::min(columns.columns_[i].begin, titles.size());
            const auto end = i + 1 < columns.columns_.size() ? columns.columns_[i + 1].begin : titles.size();
            columns.columns_[i].title = trim_blanks(titles.substr(begin, end - begin));
        }
        return columns;
    }
    const auto separator = separator_of(titles.substr(1));
    if (!separator || (*separator != ',' && !never_in_names(*separator))) return std::nullopt;
    columns.separator_ = *separator;
    columns.columns_.push_back({"", 0});
    titles.remove_prefix(1);
    for (auto end = titles.find(*separator); end != std::string_view::npos; end = titles.find(*separator)) {
        columns.columns_.back().title = trim_blanks(titles.substr(0, end));
        titles.remove_prefix(end + 1);
        columns.columns_.push_back({"", 0});
    }
    columns.columns_.back().title = trim_blanks(titles);
    return columns;
}

std::optional<std::size_t> PerfColumns::index_of(std::string_view title) const {
    const auto found =
        std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.title == title; });
    if (found == columns_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - columns_.begin());
}

std::vector<std::string_view> PerfColumns::cells(std::string_view line) const {
    std::vector<std::string_view> cells;
    if (separator_ != '\0') {
        for (auto end = line.find(separator_); end != std::string_view::npos; end = line.find(separator_)) {
            cells.push_back(trim_blanks(line.substr(0, end)));
            line.remove_prefix(end + 1);
        }
        cells.push_back(trim_blanks(line));
        if (cells.size() < columns_.size()) cells.clear();
        return cells;
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const auto begin = columns_[i].begin;
        if (begin >= line.size() || (begin > 0 && line[begin - 1] != ' ')) return {};
        const auto end = i + 1 < columns_.size() ? columns_[i + 1].begin : line.size();
        cells.push_back(trim_blanks(line.substr(begin, end - begin)));
    }
    return cells;
}

}  // namespace rdam
