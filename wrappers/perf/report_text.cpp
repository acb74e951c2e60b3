#include "wrappers/perf/report_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "tools/base/name_text.h"
#include "tools/base/text_lines.h"

namespace rdam {

namespace {

/// One event's part of the text.
struct Section {
    std::string event;
    double event_count = 0;
    std::optional<PerfColumns> columns;
    std::vector<std::string_view> lines;  // rows, and what stands between them
};

/// "# Samples: 2K of event 'cpu-clock'"
std::optional<std::string> event_of(std::string_view line) {
    if (line.substr(0, 2) != "# ") return std::nullopt;
    const auto at = line.find(" of event");
    if (at == std::string_view::npos) return std::nullopt;
    const auto open = line.find('\'', at);
    const auto close = line.rfind('\'');
    if (open == std::string_view::npos || close <= open) return std::string();
    return std::string(line.substr(open + 1, close - open - 1));
}

double event_count_of(std::string_view line) {
    constexpr std::string_view kCount = "# Event count (approx.):";
    if (line.substr(0, kCount.size()) != kCount) return 0;
    const auto number = parse_perf_number(line.substr(kCount.size()));
    return number ? number->value : 0;
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    TextLines rest{text};
    for (std::string_view line; rest.next(line);)
        lines.push_back(line);
    return lines;
}

void read_comment(std::vector<Section>& sections, std::string_view line, std::string_view next) {
    if (auto event = event_of(line)) {
        sections.emplace_back();
        sections.back().event = std::move(*event);
    } else if (const auto count = event_count_of(line); count > 0) {
        if (!sections.empty()) sections.back().event_count = count;
    } else if (PerfColumns::looks_like_titles(line)) {
        if (sections.empty() || sections.back().columns) sections.emplace_back();
        sections.back().columns = PerfColumns::from_header(line, next);
    }
}

std::vector<Section> split_sections(std::string_view text) {
    std::vector<Section> sections;
    const auto lines = lines_of(text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto next = i + 1 < lines.size() ? lines[i + 1] : std::string_view{};
        if (lines[i].substr(0, 1) == "#")
            read_comment(sections, lines[i], next);
        else if (!sections.empty() && sections.back().columns)
            sections.back().lines.push_back(lines[i]);
    }
    return sections;
}

/// Where the numbers and names of a row stand.
struct RowShape {
    std::size_t self = 0;
    std::optional<std::size_t> children;
    std::optional<std::size_t> module;
    std::optional<std::size_t> source;
    std::size_t symbol = 0;
};

Result<RowShape> shape_of(const PerfColumns& columns, std::string_view origin) {
    RowShape shape;
    std::optional<std::size_t> self;
    for (const auto* title : {"Self", "Overhead", "Period", "Samples", "Children"})
        if (!self) self = columns.index_of(title);
    const auto symbol = columns.index_of("Symbol");
    if (!self)
        return fail("{}: has no Overhead column; let perf report print one (-F overhead,dso,sym)", origin);
    if (!symbol)
        return fail(
            "{}: has no Symbol column, so it names no function; let perf report sort by it (--sort dso,sym)",
            origin);
    shape.self = *self;
    shape.symbol = *symbol;
    shape.children = columns.index_of("Children");
    shape.module = columns.index_of("Shared Object");
    shape.source = columns.index_of("Source:Line");
    return shape;
}

/// "[k] f"; with -v "0xffffffff81000000 k [k] f". Returns the name and sets the level.
std::string_view symbol_of(std::string_view cell, char& level) {
    constexpr std::string_view kLevels = "k.guH";
    for (auto at = cell.find('['); at != std::string_view::npos; at = cell.find('[', at + 1)) {
        if (cell.size() < at + 4 || cell[at + 2] != ']' || cell[at + 3] != ' ') continue;
        if (kLevels.find(cell[at + 1]) == std::string_view::npos) continue;
        level = cell[at + 1];
        return trim_blanks(cell.substr(at + 4));
    }
    level = ' ';
    return cell;
}

/// The numbers of several events grouped in one cell ("50.00% 20.00%"). Empty: the cell contains something
/// else, as in a folded chain ("13.22% f").
std::vector<PerfNumber> numbers_of(std::string_view cell) {
    std::vector<PerfNumber> numbers;
    do {
        const auto end = std::min(cell.find(' '), cell.size());
        const auto number = parse_perf_number(cell.substr(0, end));
        if (!number) return {};
        numbers.push_back(*number);
        cell = trim_blanks(cell.substr(end));
    } while (!cell.empty());
    return numbers;
}

/// perf cuts off source lines at this width, perhaps within the number.
constexpr std::size_t kSourceWidth = 30;

std::string_view source_of(std::string_view cell) {
    const auto place = place_in(cell);
    return place && cell.size() != kSourceWidth && place->file != "??" ? cell : std::string_view{};
}

std::optional<PerfRow> parse_row(std::string_view line, const PerfColumns& columns, const RowShape& shape) {
    const auto cells = columns.cells(line);
    if (cells.empty()) return std::nullopt;
    const auto self = numbers_of(cells[shape.self]);
    if (self.empty()) return std::nullopt;
    PerfRow row;
    row.self = self.front().value;
    row.symbol = symbol_of(cells[shape.symbol], row.level);
    // A chain's line may happen to have a number where the column is, but no mark of a level.
    if (row.symbol.empty() || (shape.self != 0 && row.level == ' ')) return std::nullopt;
    row.children = row.self;
    std::vector<PerfNumber> children = self;
    if (shape.children) {
        children = numbers_of(cells[*shape.children]);
        if (children.empty()) return std::nullopt;
        row.children = children.front().value;
    }
    for (std::size_t i = 1; i < std::min(self.size(), children.size()); ++i)
        row.others.push_back({self[i].value, children[i].value});
    if (shape.module) row.module = cells[*shape.module];
    if (shape.source) row.source = source_of(cells[*shape.source]);
    return row;
}

/// Whether the line behind a row can only be the rest of its name.
bool goes_on(std::string_view line) {
    if (trim_blanks(line).empty()) return false;
    return std::string_view(" \t|-0123456789").find(line[0]) == std::string_view::npos;
}

/// perf prints line breaks in names literally. With a separator, the parts of a row can be identified.
std::vector<std::string_view> join_broken_rows(const Section& section, const RowShape& shape) {
    constexpr int kMaxPieces = 64;
    const char separator = section.columns->separator();
    if (separator == '\0') return section.lines;
    std::vector<std::string_view> lines;
    int pieces = 0;  // of the row before; 0: there is none, or what is behind it has begun
    for (const auto line : section.lines) {
        const auto end = line.find(separator);
        const bool begins =
            end != std::string_view::npos && !numbers_of(trim_blanks(line.substr(0, end))).empty();
        if (begins || parse_row(line, *section.columns, shape)) {
            pieces = 1;
        } else if (pieces > 0 && pieces < kMaxPieces && goes_on(line)) {
            const auto* const first = lines.back().data();
            lines.back() = {first, static_cast<std::size_t>(line.data() + line.size() - first)};
            ++pieces;
            continue;
        } else {
            pieces = 0;
        }
        lines.push_back(line);
    }
    return lines;
}

/// Lines between the rows are call chains.
std::vector<PerfRow> parse_rows(const Section& section, const RowShape& shape) {
    std::vector<PerfRow> rows;
    for (const auto line : join_broken_rows(section, shape))
        if (auto row = parse_row(line, *section.columns, shape)) rows.push_back(std::move(*row));
    return rows;
}

/// Periods and counts of samples become percentages of what the header says is the whole, or of their sum.
void make_percentages(std::vector<PerfRow>& rows, double event_count) {
    double sum = 0;
    for (const auto& row : rows)
        sum += row.self;
    const double whole = std::max(sum, event_count);
    for (auto& row : rows) {
        row.others.clear();  // their wholes are not known
        row.self = whole > 0 ? 100 * row.self / whole : 0;
        row.children = row.self;
    }
}

/// A name as it was before perf replaced the commas in it by dots, as it does with -t ','. Demanglers put a
/// blank behind a comma, and nothing else puts one behind a dot.
std::string with_commas(std::string name) {
    for (auto at = name.find('.'); at != std::string::npos; at = name.find('.', at + 1)) {
        const std::string_view text(name);
        if (text.substr(at + 1).starts_with(' ') || text.substr(0, at).ends_with("operator")) name[at] = ',';
    }
    return name;
}

const Section* choose_section(const std::vector<Section>& sections) {
    const auto usable = [](const Section& s) { return s.columns.has_value(); };
    auto found = std::ranges::find_if(
        sections, [&](const Section& s) { return usable(s) && counts_time(s.event) && !s.lines.empty(); });
    if (found == sections.end()) found = std::ranges::find_if(sections, usable);
    return found == sections.end() ? nullptr : &*found;
}

bool begins_with_percentage(std::string_view line) {
    const auto begin = line.find_first_not_of(' ');
    const auto end = line.find_first_not_of("0123456789.", begin);
    return begin != std::string_view::npos && end != std::string_view::npos && end > begin &&
           line[end] == '%';
}

tl::unexpected<Error> not_a_report(std::string_view text, std::string_view origin) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        return fail("{}: is empty; give rdam hot the output of perf report --stdio, or a perf.data file",
                    origin);
    const auto lines = lines_of(text);
    const auto titles = std::ranges::find_if(lines, PerfColumns::looks_like_titles);
    if (titles != lines.end() && PerfColumns::is_hierarchy(*titles))
        return fail("{}: is a report in --hierarchy form; print it without that option", origin);
    if (titles != lines.end())
        return fail(
            "{}: names may hold what separates the columns of the report; print it without -t or with -t ';'",
            origin);
    if (std::ranges::any_of(lines, begins_with_percentage))
        return fail("{}: is a report without its column titles; print it without -q", origin);
    return fail("{}: is neither output of perf report --stdio nor a perf.data file", origin);
}

tl::unexpected<Error> no_rows(std::string_view origin, bool any_lines) {
    if (any_lines)
        return fail(
            "{}: no line of the report can be read as a row; if a name has a line break in it, give rdam hot "
            "the perf.data file",
            origin);
    return fail("{}: the report has no rows; was anything sampled?", origin);
}

bool has_lines(const Section& section) {
    return std::ranges::any_of(section.lines, [](auto line) { return !trim_blanks(line).empty(); });
}

/// Without rows where there are none.
Result<PerfReport> report_of(const Section& section, std::string_view origin) {
    const auto shape = shape_of(*section.columns, origin);
    if (!shape) return tl::unexpected(shape.error());

    PerfReport report;
    report.event = section.event;
    report.rows = parse_rows(section, *shape);
    // The header's count is one of periods.
    if (section.columns->index_of("Period") == shape->self)
        make_percentages(report.rows, section.event_count);
    else if (section.columns->index_of("Samples") == shape->self)
        make_percentages(report.rows, 0);
    if (section.columns->separator() == ',')
        for (auto& row : report.rows)
            row.symbol = report.restored.emplace_back(with_commas(std::string(row.symbol)));
    return report;
}

}  // namespace

bool counts_time(std::string_view event) {
    constexpr std::array<std::string_view, 3> kClocks = {"cpu-clock", "task-clock", "cycles"};
    return std::ranges::any_of(kClocks,
                               [&](std::string_view clock) { return event.find(clock) != event.npos; });
}

std::string without_colours(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
            const auto end = text.find_first_not_of("0123456789;", i + 2);
            if (end != std::string_view::npos && text[end] == 'm') {
                i = end;
                continue;
            }
        }
        plain.push_back(text[i]);
    }
    return plain;
}

Result<PerfReport> parse_perf_text(std::string_view text, std::string_view origin) {
    if (text.find('\0') != std::string_view::npos) return not_a_report("binary", origin);
    const auto sections = split_sections(text);
    const auto* section = choose_section(sections);
    if (section == nullptr) return not_a_report(text, origin);
    auto report = report_of(*section, origin);
    if (!report) return report;
    for (const auto& other : sections)
        if (&other != section && other.columns) report->other_events.push_back(other.event);
    if (report->rows.empty()) return no_rows(origin, has_lines(*section));
    return report;
}

Result<std::vector<PerfReport>> parse_perf_events(std::string_view text, std::string_view origin) {
    if (text.find('\0') != std::string_view::npos) return not_a_report("binary", origin);
    std::vector<PerfReport> reports;
    bool any_rows = false;
    bool any_lines = false;
    for (const auto& section : split_sections(text)) {
        if (!section.columns) continue;
        any_lines = any_lines || has_lines(section);
        auto report = report_of(section, origin);
        if (!report) return tl::unexpected(report.error());
        any_rows = any_rows || !report->rows.empty();
        reports.push_back(std::move(*report));
    }
    if (reports.empty()) return not_a_report(text, origin);
    if (!any_rows) return no_rows(origin, any_lines);
    return reports;
}

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
    const bool counts = std::ranges::any_of(kNumberTitles, [&](std::string_view title) {
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
    const auto found = std::ranges::find_if(columns_, [&](const Column& c) { return c.title == title; });
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
