#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/output/comparison.h"
#include "analyzer/output/fields.h"
#include "analyzer/output/table.h"
#include "analyzer/output/text.h"
#include "tools/base/files.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"

namespace rdam::output {
namespace {

constexpr std::size_t kWidestLabel = 16;
/// How many functions that a tool names, but that were not recorded, are listed.
constexpr std::size_t kMaxNotRecorded = 3;
constexpr std::size_t kWidestName = 60;

std::string share_text(const causes::CauseShare& cause) {
    if (cause.with_callees <= 0) return "-";
    const std::string own = percent(cause.share);
    const std::string all = percent(cause.with_callees);
    return own == all ? own : fmt::format("{} ({})", own, all);
}

std::string place_text(const causes::CauseRow& row) {
    if (row.function.empty()) return row.line == 0 ? row.file : fmt::format("{}:{}", row.file, row.line);
    return score::qualified_name(std::string{file_name(row.module)}, row.function);
}

class CausesWriter {
  public:
    CausesWriter(const causes::CrossCheck& check, const TextOptions& options)
        : check_(check), options_(options), style_(options.color) {
        std::map<std::string, std::size_t> seen;
        for (const causes::CauseReport& report : check.reports) {
            const std::string label = shortened(printable(report.label), kWidestLabel);
            const std::size_t same = ++seen[label];
            labels_.push_back(same == 1 ? label : fmt::format("{} #{}", label, same));
        }
        for (std::size_t i = 0; i < check.reports.size(); ++i)
            if (std::ranges::any_of(check.functions, [&](const causes::CheckedFunction& function) {
                    return function.causes[i].with_callees >= causes::kCause;
                }))
                columns_.push_back(i);
    }

    std::string write() {
        line(style_.bold("Causes and effects"));
        table();
        line();
        line(
            fmt::format("effect: a score of {:.2f} or more. cause: {} or more of what a tool counted; in "
                        "parentheses: including callees.",
                        causes::kEffect, percent(causes::kCause)));
        sources();
        return std::move(out_);
    }

  private:
    void line(std::string_view text = {}) { out_.append(text).append("\n"); }

    void table() {
        std::vector<Column> columns{
            {.title = "score"}, {.title = "lost"}, {.title = "function", .left = true, .widest = 50}};
        for (const std::size_t report : columns_)
            columns.push_back({.title = labels_[report]});
        columns.push_back({.title = "verdict", .left = true});
        Table table{columns};
        const std::size_t shown =
            options_.top == 0 ? check_.functions.size() : std::min(options_.top, check_.functions.size());
        for (std::size_t i = 0; i < shown; ++i)
            table.add(cells(check_.functions[i]));
        const std::vector<std::string> lines = table.lines(1);
        line(style_.bold(lines.front()));
        for (std::size_t i = 0; i < shown; ++i)
            line(styled(check_.functions[i].verdict, lines[i + 1]));
        if (shown < check_.functions.size()) line(style_.faint(hidden_rows(check_.functions.size() - shown)));
    }

    std::vector<std::string> cells(const causes::CheckedFunction& function) const {
        std::vector<std::string> cells;
        if (function.row == nullptr) {
            cells = {"-", "never called"};
        } else {
            cells = {score_mark(*function.row) + score_text(function.row->rdam),
                     human_time(function.row->lost_ns)};
        }
        cells.push_back(printable(function.row != nullptr
                                      ? function.row->shown
                                      : score::qualified_name(function.module, function.name)));
        for (const std::size_t report : columns_)
            cells.push_back(share_text(function.causes[report]));
        cells.emplace_back(verdict_text(function.verdict));
        return cells;
    }

    std::string styled(causes::CauseVerdict verdict, const std::string& text) const {
        switch (verdict) {
            case causes::CauseVerdict::agree:
                return style_.alarming(text);
            case causes::CauseVerdict::effect_only:
                return style_.notable(text);
            case causes::CauseVerdict::cause_only:
                return text;
            case causes::CauseVerdict::neither:
                break;
        }
        return style_.faint(text);
    }

    /// Says where the columns come from; columns with the same text share a line.
    void sources() {
        std::string labels;
        for (std::size_t i = 0; i < check_.reports.size(); ++i) {
            labels.append(labels.empty() ? "" : ", ").append(labels_[i]);
            const std::string text = source(i);
            const std::string left_out = not_recorded(i);
            if (left_out.empty() && i + 1 < check_.reports.size() && source(i + 1) == text) continue;
            line(fmt::format("{}: {}", labels, text));
            if (!left_out.empty()) line(style_.faint("  not recorded: " + left_out));
            labels.clear();
        }
    }

    std::string source(std::size_t index) const {
        const causes::CauseReport& report = check_.reports[index];
        const std::string label = printable(report.label);
        std::string text = fmt::format("{}, {}", report.tool, printable(report.file));
        if (label != shortened(label, kWidestLabel)) text = fmt::format("{}, {}", label, text);
        if (!report.disturbs)
            text += "; shows where the program works, not what disturbs it: not part of the verdict";
        if (report.rows.empty()) {
            text += "; found nothing";
        } else if (std::ranges::find(columns_, index) == columns_.end()) {
            text += fmt::format("; less than {} in every recorded function", percent(causes::kCause));
        }
        return text;
    }

    /// Empty: there are none.
    std::string not_recorded(std::size_t index) const {
        if (!check_.reports[index].disturbs) return {};
        std::vector<std::string> names;
        std::size_t more = 0;
        for (const causes::NotRecorded& entry : check_.not_recorded) {
            if (entry.report != index) continue;
            if (names.size() == kMaxNotRecorded)
                ++more;
            else
                names.push_back(fmt::format("{} {}", shortened(printable(place_text(entry.row)), kWidestName),
                                            percent(entry.row.share)));
        }
        const std::string text = fmt::format("{}", fmt::join(names, ", "));
        return more == 0 ? text : fmt::format("{}, {} more", text, more);
    }

    const causes::CrossCheck& check_;
    const TextOptions& options_;
    Style style_;
    std::vector<std::string> labels_;   // by report
    std::vector<std::size_t> columns_;  // reports that say something of a recorded function
    std::string out_;
};

}  // namespace

std::string causes_text(const causes::CrossCheck& check, const TextOptions& options) {
    return CausesWriter{check, options}.write();
}

}  // namespace rdam::output
