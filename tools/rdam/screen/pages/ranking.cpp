#include "tools/rdam/screen/pages/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

#include "analyzer/output/units.h"
#include "analyzer/output/wording/comparison.h"
#include "analyzer/output/wording/notes.h"
#include "analyzer/score/report/ranking.h"
#include "tools/rdam/screen/text/scores.h"
#include "wrappers/support/printable.h"

namespace rdam::screen {
namespace {

using Row = score::FunctionRow;

struct Column {
    const char* title;
    std::size_t width;
    std::string (*text)(const Row& row);
};

std::string lost(const Row& row) {
    return row.outermost > 0 && !row.unknown() ? output::human_time(row.lost_ns) : "-";
}

template <double Row::*Member>
std::string time(const Row& row) {
    return row.outermost > 0 ? output::human_time(row.*Member) : "-";
}

std::string threads(const Row& row) {
    return output::affected_threads(row);
}

std::string score(const Row& row) {
    if (row.unknown()) return "-";
    return output::score_mark(row) + output::score_text(row.rdam);
}

std::string short_occurrences(const Row& row) {
    const std::string text = occurrences(row);
    return columns(text) <= 11 ? text : output::human_count(static_cast<double>(row.occurrences));
}

/// Behind the function's name, from left to right; which ones depends on the room.
constexpr Column kOccurrences{"occurrences", 11, short_occurrences};
constexpr Column kMin{"min", 7, time<&Row::min_ns>};
constexpr Column kMedian{"median", 7, time<&Row::median_ns>};
constexpr Column kP99{"p99", 7, time<&Row::p99_ns>};
constexpr Column kLost{"lost", 7, lost};
constexpr Column kThreads{"threads", 7, threads};
constexpr Column kInterval{
    "95 %", 11,
    [](const Row& row) { return row.unknown() ? "-" : output::interval_text(row.rdam_low, row.rdam_high); }};

constexpr std::size_t kScoreWidth = 6;
constexpr std::size_t kMinName = 22;

struct Layout {
    bool interval = false;
    std::vector<Column> behind;
    std::size_t name = 0;
};

Layout layout_for(std::size_t width) {
    const std::pair<const Column*, std::size_t> configuration[] = {
        {&kLost, 5}, {&kOccurrences, 1}, {&kInterval, 0}, {&kMedian, 3},
        {&kMin, 2},  {&kP99, 4},         {&kThreads, 6}};
    std::size_t used = kScoreWidth + 2;
    std::vector<std::pair<std::size_t, Column>> chosen;
    Layout layout;
    for (const auto& [column, place] : configuration) {
        if (used + column->width + 2 + kMinName > width && column != &kLost) break;
        used += column->width + 2;
        if (column == &kInterval) {
            layout.interval = true;
        } else {
            chosen.emplace_back(place, *column);
        }
    }
    std::ranges::sort(chosen, {}, [](const auto& each) { return each.first; });
    for (const auto& [place, column] : chosen)
        layout.behind.push_back(column);
    layout.name = width > used ? width - used : 0;
    return layout;
}

Line titles(const Layout& layout) {
    std::string text = to_right("score", kScoreWidth);
    if (layout.interval) text += "  " + to_right(kInterval.title, kInterval.width);
    text += "  " + to_left("function", layout.name);
    for (const Column& column : layout.behind)
        text += "  " + to_right(column.title, column.width);
    return line(std::move(text), Look::strong);
}

Line row_line(const Row& row, const Layout& layout, double threshold) {
    std::string text = to_right(score(row), kScoreWidth);
    if (layout.interval) text += "  " + to_right(kInterval.text(row), kInterval.width);
    text +=
        "  " + to_left(function_name(row) + (row.by_design.empty() ? "" : ", " + row.by_design), layout.name);
    for (const Column& column : layout.behind)
        text += "  " + to_right(column.text(row), column.width);
    const bool told = score::standing(row) == score::Standing::told;
    return line(std::move(text), told ? look_of_score(row.rdam, threshold) : Look::faint);
}

std::string lower_case(std::string text) {
    for (char& c : text)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

Line run_line(const score::Report& report) {
    return line(fmt::format("{}, {}, {}", output::human_time(report.duration_ns),
                            output::threads_text(report), output::counted(report.events, "event", "events")));
}

}  // namespace

Order next(Order order) {
    return order == Order::name ? Order::score : static_cast<Order>(static_cast<int>(order) + 1);
}

std::string in_words(Order order) {
    constexpr const char* kWords[] = {"by rank", "by lost time", "by occurrences", "by name"};
    return kWords[static_cast<int>(order)];
}

std::vector<const Row*> ranked(const score::Report& report, Order order, const std::string& filter) {
    std::vector<const Row*> rows;
    const std::string wanted = lower_case(filter);
    for (const Row& row : report.functions)
        if (lower_case(function_name(row)).find(wanted) != std::string::npos) rows.push_back(&row);
    const auto by = [&](auto less) { std::ranges::stable_sort(rows, less); };
    if (order == Order::score) by([](const Row* a, const Row* b) { return a->rank < b->rank; });
    if (order == Order::lost) by([](const Row* a, const Row* b) { return a->lost_ns > b->lost_ns; });
    if (order == Order::occurrences)
        by([](const Row* a, const Row* b) { return a->occurrences > b->occurrences; });
    if (order == Order::name)
        by([](const Row* a, const Row* b) { return function_name(*a) < function_name(*b); });
    return rows;
}

Line settings_line(const Facts& facts) {
    const score::Settings& settings = facts.settings;
    std::string text = "calls against " + output::baseline_in_words(settings.baseline);
    if (settings.sequences.fold_loops) text += " · loops folded";
    if (settings.sequences.deep_keys) text += " · deep keys";
    if (facts.ignored > 0) text += fmt::format(" · {} ignored (I)", facts.ignored);
    if (facts.notes > 0) text += " · " + output::counted(facts.notes, "note", "notes") + " (n)";
    return line(std::move(text));
}

Content ranking_content(const Facts& facts, Order order, const std::string& filter, std::size_t width) {
    const std::string command = printable(output::command_text(facts.report.process.command));
    Content content{.head = {line(command.empty() ? "(unknown program)" : command, Look::strong),
                             settings_line(facts), run_line(facts.report)}};
    const Layout layout = layout_for(width > kCursorWidth ? width - kCursorWidth : 0);
    content.columns = titles(layout);
    for (const Row* row : ranked(facts.report, order, filter)) {
        content.choices.push_back(content.lines.size());
        content.lines.push_back(row_line(*row, layout, facts.settings.threshold));
    }
    if (content.lines.empty())
        content.lines.push_back(line(facts.report.functions.empty()
                                         ? "no calls to wrapped functions are left"
                                         : "no function name contains this: " + printable(filter)));
    if (order != Order::score) content.head[2].push_back({", " + in_words(order)});
    if (!facts.rules.empty()) content.head[2].push_back({", rules: " + printable(facts.rules)});
    if (!filter.empty()) content.head[2].push_back({", with " + printable(filter), Look::notable});
    return content;
}

}  // namespace rdam::screen
