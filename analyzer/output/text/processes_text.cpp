#include "analyzer/output/text/processes_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzer/output/text/ranked_rows.h"
#include "analyzer/output/text/table.h"
#include "analyzer/output/units.h"
#include "analyzer/output/wording/notes.h"
#include "wrappers/support/printable.h"

namespace rdam::output {
namespace {

/// Columns of scores beside each other; more do not fit a terminal.
constexpr std::size_t kMaxProcessColumns = 8;

/// Without the program's folder.
std::string short_command(std::vector<std::string> words) {
    if (!words.empty()) words.front().erase(0, words.front().rfind('/') + 1);
    return command_text(words);
}

/// What distinguishes it from the others: its title, the name that its first thread has set, or its command.
std::string what_it_is(const score::Report& report) {
    const trace::ProcessInfo& process = report.process;
    if (!process.title.empty()) return process.title;
    const std::string command = short_command(process.command);
    const auto first = std::ranges::find(report.threads, process.pid, &score::ThreadRow::tid);
    if (first == report.threads.end() || first->name.empty()) return command;
    // The kernel keeps 15 bytes of the program's name; a script goes by its interpreter or its own.
    const std::string& name = first->name;
    const bool own =
        process.executable.find(name) == std::string::npos && command.find(name) == std::string::npos;
    return own ? name + ": " + command : command;
}

class ProcessesWriter {
  public:
    ProcessesWriter(const Processes& processes, const TextOptions& options)
        : processes_(processes), options_(options), style_(options.color) {
        rows_ = score::by_rank(processes.overall.functions, options.top);
        for (std::size_t i = 0; i < processes.reports.size(); ++i)
            if (options.top == 0 || !processes.overall.short_lived[i]) shown_.push_back(i);
    }

    std::string write() {
        header();
        process_table();
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
    }

    void process_table() {
        Table table{{{.title = "process"},
                     {.title = "pid"},
                     {.title = "command", .left = true, .widest = 40},
                     {.title = "trace", .left = true, .widest = 40},
                     {.title = "life"},
                     {.title = "threads"},
                     {.title = "events"},
                     {.title = "slowdown"},
                     {.title = "", .left = true}}};
        for (const std::size_t i : shown_) {
            const score::Report& report = processes_.reports[i];
            table.add({number(i), fmt::format("{}", report.process.pid), printable(what_it_is(report)),
                       printable(processes_.files[i]), human_time(report.duration_ns),
                       grouped(report.threads.size()), grouped(report.events), made_longer(report.cost),
                       processes_.overall.short_lived[i] ? "short-lived: does not set the score" : ""});
        }
        for (const std::string& text : table.lines(1))
            line(text);
        if (const std::size_t more = processes_.reports.size() - shown_.size(); more > 0)
            line(style_.faint(fmt::format(" … {} more, short-lived: {} not set the score (--top 0 shows all)",
                                          more, more == 1 ? "it does" : "they do")));
    }

    /// Notes that several processes have in common are printed once.
    void notes_of_all() {
        std::vector<const score::Report*> all, shown;
        for (const score::Report& report : processes_.reports)
            all.push_back(&report);
        for (const std::size_t i : shown_)
            shown.push_back(all[i]);
        for (const SharedNote& note : notes(shown, all))
            line(style_.notable(fmt::format("note: {}{}", which(note.processes), printable(note.text))));
        for (const UnreadableTrace& trace : processes_.unreadable)
            line(
                style_.notable("note: " + printable(trace.file) + " was skipped: " + printable(trace.error)));
    }

    /// `#1, #2: `; indices into those that are shown.
    std::string which(const std::vector<std::size_t>& processes) const {
        constexpr std::size_t kShown = 4;
        if (processes.empty()) return {};
        if (processes.size() == shown_.size()) return "all: ";
        std::string text;
        for (std::size_t i = 0; i < std::min(kShown, processes.size()); ++i)
            text += (i == 0 ? "" : ", ") + number(shown_[processes[i]]);
        if (processes.size() > kShown) text += fmt::format(" and {} more", processes.size() - kShown);
        return text + ": ";
    }

    static std::string name_of(const score::OverallFunction& row) {
        return printable(score::qualified_name(row.module, row.name) +
                         (row.file.empty() ? "" : " (" + row.file + ")") +
                         (row.by_design.empty() ? "" : ", " + row.by_design));
    }

    static std::string mark_of(const score::OverallFunction& row) {
        return score_mark(row.maybe_recorder, row.lower_bound, row.minimum_alone, score::at_floor(row));
    }

    void functions() {
        if (rows_.empty()) {
            line("No calls to wrapped functions were recorded.");
            return;
        }
        Table table{{{.title = "score"},
                     {.title = "95 %"},
                     {.title = "function", .left = true, .widest = 60},
                     {.title = "occurrences"},
                     {.title = "lost"},
                     {.title = "of all time"},
                     {.title = "processes"}}};
        for (const score::OverallFunction& row : rows_) {
            const auto affected =
                std::ranges::count_if(row.processes, [](const auto& part) { return part.lost_ns > 0; });
            table.add({row.few_windows ? "-" : mark_of(row) + score_text(row.rdam),
                       row.few_windows ? "-" : interval_text(row.rdam_low, row.rdam_high), name_of(row),
                       fmt::format("{}{}{}", row.switched_off ? "≥" : "",
                                   row.estimates_occurrences ? "~" : "", grouped(row.occurrences)),
                       row.few_windows ? "-" : human_time(row.lost_ns),
                       row.few_windows ? "-" : percent(row.rdam_all),
                       row.few_windows ? fmt::format("-/{}", row.processes.size())
                                       : fmt::format("{}/{}", affected, row.processes.size())});
        }
        for (const std::string& text : ranked_lines(table.lines(1), rows_, options_.threshold, style_))
            line(text);
        if (rows_.size() < processes_.overall.functions.size()) {
            line(style_.faint(hidden_rows(processes_.overall.functions.size() - rows_.size())));
        }
        line();
        line(
            fmt::format("score: the share of its life that the worst thread of all processes lost; look at "
                        "scores from {:.2f}.",
                        options_.threshold));
        line(interval_advice());
        line("of all time: lost time / the lives of all threads.");
        line("processes: how many lost time / how many called it.");
        const bool marked = std::ranges::any_of(
            rows_, [](const score::OverallFunction& row) { return !mark_of(row).empty(); });
        if (marked)
            line(
                "?, ≥, !, °: the score has a reservation; the process's own report (--threads) explains it.");
    }

    /// All of them, or those with the highest scores, in their order. Processes that wait by design would
    /// have the highest of all.
    std::vector<std::size_t> columns() const {
        std::vector<double> highest(processes_.reports.size());
        for (const score::OverallFunction& row : rows_) {
            if (!row.by_design.empty()) continue;
            for (const score::ProcessShare& part : row.processes)
                highest[part.process] = std::max(highest[part.process], part.rdam);
        }
        std::vector<std::size_t> order = shown_;
        std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return highest[i]; });
        order.resize(std::min(order.size(), kMaxProcessColumns));
        std::ranges::sort(order);
        return order;
    }

    void scores() {
        const std::vector<std::size_t> shown = columns();
        const std::size_t more = shown_.size() - shown.size();
        line();
        line(style_.bold(
            more == 0 ? std::string{"Score in each process"}
                      : fmt::format("Scores in the {} highest-scoring processes ({} more: --json has them)",
                                    shown.size(), more)));
        std::vector<Column> titles{{.title = "function", .left = true, .widest = 60}};
        for (const std::size_t process : shown)
            titles.push_back({.title = number(process)});
        Table table{std::move(titles)};
        for (const score::OverallFunction& row : rows_) {
            std::vector<std::string> cells{name_of(row)};
            for (const std::size_t process : shown) {
                const auto part = std::ranges::find(row.processes, process, &score::ProcessShare::process);
                cells.push_back(part == row.processes.end() || part->few_windows ? "-"
                                                                                 : score_text(part->rdam));
            }
            table.add(std::move(cells));
        }
        for (const std::string& text : table.lines(2))
            line(text);
    }

    const Processes& processes_;
    const TextOptions& options_;
    Style style_;
    std::vector<std::size_t> shown_;  ///< processes
    std::vector<std::reference_wrapper<const score::OverallFunction>> rows_;
    std::string out_;
};

}  // namespace

std::string processes_text(const Processes& processes, const TextOptions& options) {
    return ProcessesWriter{processes, options}.write();
}

}  // namespace rdam::output
