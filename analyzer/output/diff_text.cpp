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

bool is_sampled(const score::DiffRow& row) {
    return (row.a != nullptr && row.a->windowed) || (row.b != nullptr && row.b->windowed);
}

std::string change_interval(const score::DiffRow& row) {
    if (!row.recorded_in_both || !row.scored) return "-";
    return fmt::format("{:+.3f} to {:+.3f}", rounded(row.change_low, 3), rounded(row.change_high, 3));
}

std::string change_text(const score::DiffRow& row) {
    if (!row.recorded_in_both || !row.scored) return "-";
    constexpr double kNone = 0.0005;  // what is printed as zero has no sign of its own
    const double change = std::abs(row.change) < kNone ? 0 : row.change;
    return fmt::format("{}{:+.3f}", is_sampled(row) ? "~" : "", rounded(change, 3));
}

class DiffWriter {
  public:
    DiffWriter(const Diff& diff, const TextOptions& options)
        : diff_(diff), options_(options), style_(options.color) {}

    std::string write() {
        if (const std::string text = run_change(diff_.a.report, diff_.b.report); !text.empty())
            for (const std::string& part : paragraph(text, options_.width))
                line(style_.bold(part));
        side(kBefore, diff_.a);
        side(kAfter, diff_.b);
        notes_on(kBefore, diff_.a);
        notes_on(kAfter, diff_.b);
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
    }

    void notes_on(std::string_view name, const DiffSide& side) {
        for (const std::string& note : notes(side.report))
            line(style_.notable(fmt::format("note: {}: {}", name, printable(note))));
    }

    void table() {
        const auto rows = diff_.rows.first(options_.top == 0 ? diff_.rows.size()
                                                             : std::min(options_.top, diff_.rows.size()));
        std::vector<Column> columns{{.title = "change"},
                                    {.title = "95 %", .optional = 2},
                                    {.title = "verdict", .left = true},
                                    {.title = "function", .left = true, .widest = 50}};
        for (const Field<score::FunctionRow>& field : compared_fields()) {
            columns.push_back(
                {.title = fmt::format("{} {}", field.title, kBefore), .optional = field.optional});
            columns.push_back({.title = kAfter, .optional = field.optional});
        }
        Table table{std::move(columns)};
        for (const score::DiffRow& row : rows) {
            std::vector<std::string> cells{
                change_text(row), change_interval(row), verdict_in_words(row),
                printable(row.shown + (row.file.empty() ? "" : " (" + row.file + ")"))};
            for (const Field<score::FunctionRow>& field : compared_fields())
                for (const score::FunctionRow* side : {row.a, row.b})
                    cells.push_back(side == nullptr ? "-" : cell(field, *side));
            table.add(std::move(cells));
        }
        std::string left_out;
        const std::vector<std::string> lines = table.lines(1, options_.width, &left_out);
        line(style_.bold(lines.front()));
        for (std::size_t i = 0; i < rows.size(); ++i)
            line(styled(rows[i], lines[i + 1]));
        if (rows.size() < diff_.rows.size()) line(style_.faint(hidden_rows(diff_.rows.size() - rows.size())));
        if (!left_out.empty()) line(style_.faint(left_out));
        line();
        line(
            "change: score after − score before, with its 95 % interval. better, worse: the 95 % intervals "
            "of "
            "the scores do not overlap; ~ same: they do. × the calls: so many times as many as before.");
        for (const Field<score::FunctionRow>& field : compared_fields())
            if (!field.legend.empty()) line(fmt::format("{}: {}", field.title, field.legend));
        if (std::ranges::any_of(rows, is_sampled))
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
