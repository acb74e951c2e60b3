#include "tools/rdam/screen/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <string_view>
#include <utility>

#include "analyzer/output/comparison.h"
#include "analyzer/output/fields.h"
#include "analyzer/output/lives.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/ranked_rows.h"
#include "analyzer/output/table.h"
#include "analyzer/report/ranking.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"
#include "tools/rdam/screen/text.h"

namespace rdam::screen {
namespace {

using Row = score::FunctionRow;
using Field = output::Field<Row>;

constexpr std::size_t kGap = 2;
constexpr std::size_t kMinName = 22;

std::size_t width_of(const Field& field) {
    using enum output::Unit;
    constexpr std::size_t kScore = 6, kInterval = 11, kTime = 7, kCount = 11;
    const bool plain = field.text == nullptr;
    const std::size_t least = field.unit == time             ? kTime
                              : field.unit == count && plain ? kCount
                              : field.unit == score          ? plain ? kScore : kInterval
                                                             : 0;
    return std::max(least, columns(field.title));
}

std::string text_of(const Field& field, const Row& row) {
    const std::string text = output::cell(field, row);
    const bool fits = columns(text) <= width_of(field) || field.unit != output::Unit::count;
    return fits ? text : output::human_count(field.value(row));
}

/// The columns for which there is room, from left to right.
struct Layout {
    std::vector<const Field*> fields;
    std::size_t name = 0;  ///< columns of the function's name
};

Layout layout_for(std::size_t width) {
    std::vector<const Field*> wanted;
    for (const Field& field : output::function_fields())
        if (!field.title.empty() && field.unit != output::Unit::name) wanted.push_back(&field);
    // Without its interval a score still says most.
    const auto place = [](const Field* field) { return std::pair{field->optional, field->text != nullptr}; };
    std::ranges::stable_sort(wanted, {}, place);
    std::size_t used = 0;
    std::vector<const Field*> chosen;
    for (const Field* field : wanted) {
        if (used + width_of(*field) + kGap + kMinName > width && place(field) > std::pair{0U, false}) break;
        used += width_of(*field) + kGap;
        chosen.push_back(field);
    }
    Layout layout{.fields = {}, .name = width > used ? width - used : 0};
    for (const Field& field : output::function_fields())
        if (field.unit == output::Unit::name || std::ranges::find(chosen, &field) != chosen.end())
            layout.fields.push_back(&field);
    return layout;
}

/// `text` of each column of the layout, and the name.
template <typename Text>
std::string laid_out(const Layout& layout, std::string_view name, const Text& text) {
    std::string out;
    for (const Field* field : layout.fields) {
        if (!out.empty()) out += std::string(kGap, ' ');
        out += field->unit == output::Unit::name ? to_left(std::string{name}, layout.name)
                                                 : to_right(text(*field), width_of(*field));
    }
    return out;
}

bool is_sorted_by(Order order, const Field& field) {
    constexpr std::string_view kKeys[] = {"rdam", "lost_ns", "occurrences"};
    return order != Order::name && field.key == kKeys[static_cast<int>(order)];
}

/// The one by which rows are sorted is marked.
Line titles(const Layout& layout, Order order) {
    return line(laid_out(layout, order == Order::name ? "function↑" : "function",
                         [&](const Field& field) {
                             return std::string{field.title} + (is_sorted_by(order, field) ? "↓" : "");
                         }),
                Look::strong);
}

/// Names of at most `width` columns that can be told apart.
std::vector<std::string> names_of(const std::vector<std::reference_wrapper<const Row>>& rows,
                                  std::size_t width) {
    std::vector<std::string> names;
    for (const Row& row : rows)
        names.push_back(function_name(row));
    std::vector<std::string> shown = output::shortened_apart(names, width);
    const auto fits = [&](const std::string& name) { return columns(name) <= width; };
    // Those that would be the same may take twice the room.
    return std::ranges::all_of(shown, fits) ? shown : output::shortened_apart(std::move(names), width / 2);
}

Line row_line(const Row& row, std::string name, const Layout& layout, double threshold) {
    if (!row.by_design.empty()) name += ", " + row.by_design;
    const bool ranked = score::standing(row) == score::Standing::ranked;
    return line(laid_out(layout, name, [&](const Field& field) { return text_of(field, row); }),
                ranked ? look_of_score(row.rdam, threshold) : Look::faint);
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
    constexpr const char* kWords[] = {"by rank", "by lost time", "by calls", "by name"};
    return kWords[static_cast<int>(order)];
}

std::vector<const Row*> ranked(const score::Report& report, Order order, const std::string& filter) {
    std::vector<const Row*> rows;
    const std::string wanted = lower_case(filter);
    for (const Row& row : report.functions)
        if (lower_case(printable(score::qualified_name(row.module, row.name))).find(wanted) !=
            std::string::npos)
            rows.push_back(&row);
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
    content.columns = titles(layout, order);
    std::vector<std::reference_wrapper<const Row>> rows;
    for (const Row* row : ranked(facts.report, order, filter))
        rows.emplace_back(*row);
    std::vector<std::string> names = names_of(rows, layout.name);
    score::Standing group = score::Standing::ranked;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        const score::Standing standing = score::standing(row);
        const char* const title =
            order != Order::score || standing == group ? nullptr : output::heading(rows, i);
        if (title != nullptr) content.lines.push_back(line(title, Look::faint));
        group = standing;
        content.choices.push_back(content.lines.size());
        content.lines.push_back(row_line(row, std::move(names[i]), layout, facts.settings.threshold));
    }
    if (content.lines.empty())
        content.lines.push_back(line(facts.report.functions.empty()
                                         ? "no calls to wrapped functions are left"
                                         : "no function name contains this: " + printable(filter)));
    if (order != Order::score) content.head[2].push_back({", " + in_words(order)});
    if (!facts.rules.empty()) content.head[2].push_back({", rules: " + printable(facts.rules)});
    if (!filter.empty()) content.head[2].push_back({", with " + printable(filter), Look::notable});
    constexpr std::size_t kMostLines = 2;
    for (const std::string& finding : facts.findings) {
        std::vector<std::string> lines = wrapped(printable(finding), width);
        const bool more = lines.size() > kMostLines;
        if (more) lines.resize(kMostLines);
        for (std::size_t i = 0; i < lines.size(); ++i)
            content.head.push_back(line(lines[i] + (more && i + 1 == kMostLines ? " …" : ""), Look::notable));
    }
    if (const std::string states = output::thread_states(facts.report); !states.empty())
        for (std::string& part : wrapped(states, width))
            content.head.push_back(line(std::move(part)));
    return content;
}

}  // namespace rdam::screen
