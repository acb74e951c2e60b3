#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/output/comparison.h"
#include "analyzer/output/drawing.h"
#include "analyzer/output/field_table.h"
#include "analyzer/output/lives.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/ranked_rows.h"
#include "analyzer/output/summed_notes.h"
#include "analyzer/output/table.h"
#include "analyzer/output/text.h"
#include "tools/base/files.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"

namespace rdam::output {
namespace {

/// Columns of scores beside each other; more do not fit a terminal.
constexpr std::size_t kMaxProcessColumns = 8;
/// Of more processes the table lists the extremes only: so many with the highest scores, the longest lives,
/// and the most events each.
constexpr std::size_t kMaxListed = 20;
constexpr std::size_t kMaxExtremes = 4;

class ProcessesWriter {
  public:
    ProcessesWriter(const Processes& processes, const TextOptions& options)
        : processes_(processes), options_(options), style_(options.color) {
        rows_ = score::by_rank(processes.overall.functions, options.top);
        for (std::size_t i = 0; i < processes.reports.size(); ++i)
            if (options.top == 0 || !processes.overall.short_lived[i]) counted_.push_back(i);
        shown_ = options.top == 0 || counted_.size() <= kMaxListed ? counted_ : extremes();
    }

    std::string write() {
        header();
        findings();
        summary();
        process_table();
        waits();
        notes_of_all();
        line();
        functions();
        if (!rows_.empty()) scores();
        return std::move(out_);
    }

  private:
    void line(std::string_view text = {}) { out_.append(text).append("\n"); }

    static std::string number(std::size_t process) { return fmt::format("#{}", process + 1); }

    void header() {
        std::string text = counted(processes_.reports.size(), "process", "processes");
        if (processes_.overall.runs_named)
            text += " of " + counted(processes_.overall.runs, "run", "different runs");
        line(style_.bold(text));
        std::vector<const score::Report*> all;
        for (const score::Report& report : processes_.reports)
            all.push_back(&report);
        if (const std::string settings = settings_line(all); !settings.empty()) line(printable(settings));
    }

    void findings() {
        const std::vector<SharedFinding> found = processes_.findings.largest();
        const std::string verdict = processes_.findings.verdict();
        if (found.empty() && verdict.empty()) return;
        line();
        line(style_.bold("Findings"));
        const auto lines = [&](const std::string& text, std::string_view first) {
            for (const std::string& part : paragraph(printable(text), options_.width, first))
                line(part);
        };
        if (found.empty()) lines(verdict, "  ");
        for (std::size_t i = 0; i < found.size(); ++i) {
            lines(found[i].text.title, fmt::format("  {}. ", i + 1));
            lines(where_shared(found[i], number(found[i].process)), "     ");
            for (const std::string& text : found[i].text.lines)
                lines(text, "     ");
        }
        line();
    }

    void process_table() {
        const bool states_known = std::ranges::any_of(
            shown_, [&](std::size_t i) { return states_of(processes_.reports[i]).has_value(); });
        std::vector<Column> columns{{.title = "process"},
                                    {.title = "pid", .optional = 2},
                                    {.title = "command", .left = true, .widest = 40},
                                    {.title = "trace", .left = true, .widest = 40},
                                    {.title = "life"}};
        if (states_known)
            columns.insert(columns.end(), {{.title = "running", .optional = 5},
                                           {.title = "waiting", .optional = 4},
                                           {.title = "preempted", .optional = 5}});
        columns.insert(columns.end(), {{.title = "threads", .optional = 1},
                                       {.title = "events"},
                                       {.title = "slowdown", .optional = 3},
                                       {.title = "", .left = true}});
        Table table{std::move(columns)};
        for (const std::size_t i : shown_) {
            const score::Report& report = processes_.reports[i];
            // Of another tool's trace they are not known.
            const bool has_cost = report.process.recorder.empty();
            const std::uint32_t pid = report.process.pid;
            std::vector<std::string> cells{number(i), pid == 0 ? "-" : fmt::format("{}", pid),
                                           printable(what_it_is(report)), printable(processes_.files[i]),
                                           human_time(report.duration_ns)};
            const auto states = states_of(report);
            if (states_known)
                for (double States::*part : {&States::running, &States::waiting, &States::preempted})
                    cells.push_back(states ? percent((*states).*part) : "-");
            cells.insert(cells.end(),
                         {grouped(report.threads.size()), grouped(report.events),
                          has_cost ? made_longer(report.cost) : "-",
                          processes_.overall.short_lived[i] ? "short-lived: does not set the score" : ""});
            table.add(std::move(cells));
        }
        std::string left_out;
        for (const std::string& text : table.lines(1, options_.width, &left_out))
            line(text);
        if (!left_out.empty()) line(style_.faint(left_out));
        if (shown_.size() < counted_.size())
            line(style_.faint(
                fmt::format(" … {} (--top 0 shows all)",
                            counted(counted_.size() - shown_.size(), "more process", "more processes"))));
        if (const std::size_t more = processes_.reports.size() - counted_.size(); more > 0)
            line(style_.faint(fmt::format(" … {} more, short-lived: {} not set the score (--top 0 shows all)",
                                          more, more == 1 ? "it does" : "they do")));
    }

    void waits() {
        const std::string summary = processes_.findings.waits_summary();
        if (summary.empty() && processes_.findings.waits().empty()) return;
        const auto lines = [&](const std::string& text) {
            for (const std::string& part : paragraph(printable(text), options_.width, "  "))
                line(part);
        };
        line();
        line(style_.bold("Who waits for whom"));
        for (const SharedWait& wait : processes_.findings.waits())
            lines(fmt::format("in {}, {}", number(wait.process), wait.line));
        if (!summary.empty()) lines(summary);
        line();
    }

    /// If the table leaves out many.
    void summary() {
        constexpr std::size_t kFew = 10;
        const bool all = shown_.size() == counted_.size();
        if (all && processes_.reports.size() - shown_.size() <= kFew) return;
        std::vector<double> lives;
        std::map<std::string, std::size_t> programs;
        std::uint64_t events = 0;
        for (const score::Report& report : processes_.reports) {
            lives.push_back(report.duration_ns);
            events += report.events;
            ++programs[std::string{file_name(report.process.executable)}];
        }
        std::ranges::sort(lives);
        line(fmt::format("{}; lives from {} to {}, median {}", counted(events, "event", "events"),
                         human_time(lives.front()), human_time(lives.back()),
                         human_time(lives[lives.size() / 2])));
        std::vector<std::pair<std::size_t, std::string>> commonest;
        commonest.reserve(programs.size());
        for (const auto& [name, count] : programs)
            commonest.emplace_back(count, name);
        std::ranges::stable_sort(commonest, std::ranges::greater{},
                                 &std::pair<std::size_t, std::string>::first);
        std::string text;
        for (std::size_t i = 0; i < std::min(commonest.size(), kMaxExtremes); ++i)
            text += fmt::format(
                "{}{} × {}", i == 0 ? "" : ", ", grouped(commonest[i].first),
                commonest[i].second.empty() ? "(unknown program)" : printable(commonest[i].second));
        if (commonest.size() > kMaxExtremes)
            text += ", " + counted(commonest.size() - kMaxExtremes, "other program", "other programs");
        line(text);
        line(style_.faint(
            all ? "The processes that set the scores:"
                : "The processes with the highest scores, the longest lives and the most events:"));
    }

    /// The first processes by descending `value` of those that count.
    template <typename Value>
    std::vector<std::size_t> highest(std::size_t most, const Value& value) const {
        std::vector<std::size_t> order = counted_;
        std::ranges::stable_sort(order, std::ranges::greater{}, value);
        order.resize(std::min(order.size(), most));
        return order;
    }

    std::vector<std::size_t> extremes() const {
        std::set<std::size_t> found;
        for (const std::size_t i : columns())
            found.insert(i);
        for (const std::size_t i :
             highest(kMaxExtremes, [&](std::size_t each) { return processes_.reports[each].duration_ns; }))
            found.insert(i);
        for (const std::size_t i :
             highest(kMaxExtremes, [&](std::size_t each) { return processes_.reports[each].events; }))
            found.insert(i);
        return {found.begin(), found.end()};
    }

    /// Notes that several processes have in common are printed once.
    void notes_of_all() {
        std::vector<const score::Report*> all, shown;
        for (const score::Report& report : processes_.reports)
            all.push_back(&report);
        for (const std::size_t i : counted_)
            shown.push_back(all[i]);
        for (const SharedNote& note : notes(shown, all))
            line(style_.notable(fmt::format("note: {}{}", which(note.processes), printable(note.text))));
        for (const UnreadableTrace& trace : processes_.unreadable)
            line(
                style_.notable("note: " + printable(trace.file) + " was skipped: " + printable(trace.error)));
    }

    /// `#1, #2: `; indices into those that count.
    std::string which(const std::vector<std::size_t>& processes) const {
        constexpr std::size_t kShown = 4;
        if (processes.empty()) return {};
        if (processes.size() == counted_.size()) return "all: ";
        std::string text;
        for (std::size_t i = 0; i < std::min(kShown, processes.size()); ++i)
            text += (i == 0 ? "" : ", ") + number(counted_[processes[i]]);
        if (processes.size() > kShown) text += fmt::format(" and {} more", processes.size() - kShown);
        return text + ": ";
    }

    static std::string name_of(const score::OverallFunction& row) {
        return printable(row.shown + (row.file.empty() ? "" : " (" + row.file + ")"));
    }

    void functions() {
        if (rows_.empty()) {
            line("No calls to wrapped functions were recorded.");
            return;
        }
        FieldTable table{overall_fields(), kWidestNameCell, 2};
        for (const score::OverallFunction& row : rows_)
            table.add(row, name_of(row), score_bar(row, options_));
        std::string left_out;
        const auto lines = function_lines(table.table(), options_, left_out);
        for (const std::string& text : ranked_lines(lines, rows_, options_.threshold, style_))
            line(text);
        if (rows_.size() < processes_.overall.functions.size()) {
            line(style_.faint(hidden_rows(processes_.overall.functions.size() - rows_.size())));
        }
        if (!left_out.empty()) line(style_.faint(left_out));
        line();
        line(fmt::format("score: {}; look at scores from {:.2f}.", overall_score_in_words(),
                         options_.threshold));
        line(interval_advice());
        for (const std::string& legend : table.legends(lines.front()))
            line(legend);
        const bool marked = std::ranges::any_of(
            rows_, [](const score::OverallFunction& row) { return !score_mark(row).empty(); });
        if (marked)
            line(
                "?, ≥, !, °: the score has a reservation; the process's own report (--threads) explains it.");
    }

    /// All of them, or those with the highest scores, in their order. Processes that wait by design would
    /// have the highest of all.
    std::vector<std::size_t> columns() const {
        std::vector<double> scores(processes_.reports.size());
        for (const score::OverallFunction& row : rows_) {
            if (!row.by_design.empty()) continue;
            for (const score::ProcessShare& part : row.processes)
                scores[part.process] = std::max(scores[part.process], part.rdam);
        }
        auto order = highest(kMaxProcessColumns, [&](std::size_t i) { return scores[i]; });
        std::ranges::sort(order);
        return order;
    }

    void scores() {
        const std::vector<std::size_t> shown = columns();
        const std::size_t more = counted_.size() - shown.size();
        line();
        line(style_.bold(
            more == 0 ? std::string{"Score in each process"}
                      : fmt::format("Scores in the {} highest-scoring processes ({} more: --json has them)",
                                    shown.size(), more)));
        std::vector<Column> titles{{.title = "function", .left = true, .widest = kWidestNameCell}};
        for (const std::size_t process : shown)
            titles.push_back({.title = number(process)});
        Table table{std::move(titles)};
        for (const score::OverallFunction& row : rows_) {
            std::vector<std::string> cells{name_of(row)};
            for (const std::size_t process : shown) {
                const auto part = std::ranges::find(row.processes, process, &score::ProcessShare::process);
                cells.push_back(part == row.processes.end() || part->unknown() ? "-"
                                                                               : score_text(part->rdam));
            }
            table.add(std::move(cells));
        }
        for (const std::string& text : table.lines(2, options_.width))
            line(text);
    }

    const Processes& processes_;
    const TextOptions& options_;
    Style style_;
    std::vector<std::size_t> counted_;  ///< the processes that set scores; with --top 0 all
    std::vector<std::size_t> shown_;    ///< those of them that the table lists
    std::vector<std::reference_wrapper<const score::OverallFunction>> rows_;
    std::string out_;
};

}  // namespace

std::string processes_text(const Processes& processes, const TextOptions& options) {
    return ProcessesWriter{processes, options}.write();
}

}  // namespace rdam::output
