#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/output/comparison.h"
#include "analyzer/output/fields.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/table.h"
#include "analyzer/output/text.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"

namespace rdam::output {
namespace {

bool is_windowed(const score::FunctionRow* row) {
    return row != nullptr && row->windowed;
}

/// A sample differs from a record of every call, so the text says which of the two were sampled.
std::string sampled_text(const score::DiffRow& row) {
    const bool a = is_windowed(row.a), b = is_windowed(row.b);
    if (a && b) return ", both sampled";
    return a ? ", a is sampled" : b ? ", b is sampled" : "";
}

std::string change_text(const score::DiffRow& row) {
    if (!row.recorded_in_both || !row.scored) return "-";
    constexpr double kNone = 0.0005;  // what is printed as zero has no sign of its own
    const double change = std::abs(row.change) < kNone ? 0 : row.change;
    return fmt::format("{}{:+.3f}", sampled_text(row).empty() ? "" : "~", rounded(change, 3));
}

std::string verdict_word(const score::DiffRow& row) {
    if (!row.scored) return "not scored";
    switch (row.verdict) {
        case score::DiffVerdict::same:
            return "~ same";
        case score::DiffVerdict::only_a:
            return row.recorded_in_both ? "only in a" : "not recorded in b";
        case score::DiffVerdict::only_b:
            return row.recorded_in_both ? "only in b" : "not recorded in a";
        default:
            return verdict_name(row.verdict);
    }
}

std::string verdict_in_words(const score::DiffRow& row) {
    return verdict_word(row) + sampled_text(row);
}

class DiffWriter {
  public:
    DiffWriter(const Diff& diff, const TextOptions& options)
        : diff_(diff), options_(options), style_(options.color) {}

    std::string write() {
        side("a", diff_.a);
        side("b", diff_.b);
        const score::Report* const both[] = {&diff_.a.report, &diff_.b.report};
        if (const std::string settings = settings_line(both); !settings.empty()) line(printable(settings));
        line();
        if (diff_.rows.empty()) {
            line("No calls to wrapped functions were recorded in either.");
        } else {
            table();
        }
        return std::move(out_);
    }

  private:
    void line(std::string_view text = {}) { out_.append(text).append("\n"); }

    void side(std::string_view name, const DiffSide& side) {
        const std::string command = printable(command_text(side.report.process.command));
        line(style_.bold(fmt::format("{}: {}: {}", name, printable(side.file),
                                     command.empty() ? "(unknown program)" : command)));
        line(fmt::format("   {}, {}, {}; {}", human_time(side.report.duration_ns), threads_text(side.report),
                         counted(side.report.events, "event", "events"), recording_cost(side.report)));
        for (const std::string& note : notes(side.report))
            line(style_.notable(fmt::format("note: {}: {}", name, printable(note))));
    }

    void table() {
        const auto rows = diff_.rows.first(options_.top == 0 ? diff_.rows.size()
                                                             : std::min(options_.top, diff_.rows.size()));
        std::vector<Column> columns{{.title = "change"},
                                    {.title = "verdict", .left = true},
                                    {.title = "function", .left = true, .widest = 50}};
        for (const Field<score::FunctionRow>& field : compared_fields()) {
            columns.push_back({.title = std::string{field.title} + " a"});
            columns.push_back({.title = "b"});
        }
        Table table{std::move(columns)};
        for (const score::DiffRow& row : rows) {
            const std::string name = score::qualified_name(row.module, row.name);
            std::vector<std::string> cells{change_text(row), verdict_in_words(row),
                                           printable(name + (row.file.empty() ? "" : " (" + row.file + ")"))};
            for (const Field<score::FunctionRow>& field : compared_fields())
                for (const score::FunctionRow* side : {row.a, row.b})
                    cells.push_back(side == nullptr ? "-" : cell(field, *side));
            table.add(std::move(cells));
        }
        const std::vector<std::string> lines = table.lines(1);
        line(style_.bold(lines.front()));
        for (std::size_t i = 0; i < rows.size(); ++i)
            line(styled(rows[i], lines[i + 1]));
        if (rows.size() < diff_.rows.size()) line(style_.faint(hidden_rows(diff_.rows.size() - rows.size())));
        line();
        line(
            "change: score of b − score of a. better, worse: the 95 % intervals of the scores do not "
            "overlap; "
            "~ same: they do.");
        for (const Field<score::FunctionRow>& field : compared_fields())
            if (!field.legend.empty()) line(fmt::format("{}: {}", field.title, field.legend));
        if (std::ranges::any_of(rows, [](const auto& row) { return !sampled_text(row).empty(); }))
            line(
                "sampled: only calls in time windows were recorded; scores of the two kinds are compared "
                "only by their intervals.");
        const auto has_mark = [](const score::FunctionRow* side) {
            return side != nullptr && (side->maybe_recorder || side->lower_bound || side->minimum_alone);
        };
        if (std::ranges::any_of(
                rows, [&](const score::DiffRow& row) { return has_mark(row.a) || has_mark(row.b); }))
            line("?, ≥, !: the score has a reservation; the report of that trace alone explains it.");
    }

    std::string styled(const score::DiffRow& row, const std::string& text) const {
        if (row.verdict == score::DiffVerdict::same) return style_.faint(text);
        const bool matters = std::abs(row.change) >= options_.threshold / 4;
        if (!matters) return text;
        return row.change > 0 ? style_.alarming(text) : style_.bold(text);
    }

    const Diff& diff_;
    const TextOptions& options_;
    Style style_;
    std::string out_;
};

}  // namespace

std::string diff_text(const Diff& diff, const TextOptions& options) {
    return DiffWriter{diff, options}.write();
}

}  // namespace rdam::output
