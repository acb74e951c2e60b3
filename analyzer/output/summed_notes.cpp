#include "analyzer/output/summed_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "analyzer/output/notes.h"
#include "analyzer/score/sampling_windows.h"
#include "tools/base/name_text.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"

namespace rdam::output {
namespace {

using Counts = calls::MatchCounts;
using Rows = std::vector<const score::FunctionRow*>;

template <class Of>
auto sum(Reports reports, const Of& of) {
    decltype(of(*reports.front())) all{};
    for (const score::Report* report : reports)
        all += of(*report);
    return all;
}

std::uint64_t sum(Reports reports, std::uint64_t Counts::*count) {
    return sum(reports, [&](const score::Report& report) { return report.counts.*count; });
}

/// The first few of them, each once.
std::string some_names(const std::vector<std::string>& all) {
    constexpr std::size_t kWidest = 100;
    // There may be hundreds of thousands.
    std::unordered_set<std::string_view> seen;
    std::vector<std::string> names;
    for (const std::string& name : all)
        if (seen.insert(name).second) names.push_back(name);
    for (std::string& name : names)
        name = shortened_name(printable(name), kWidest);
    return rdam::some_names(names);
}

std::string some_names(const Rows& rows) {
    std::vector<std::string> names;
    for (const score::FunctionRow* row : rows)
        names.push_back(row->name);
    return some_names(names);
}

/// How many functions, each once for all processes, and the verb.
std::string functions_were(const Rows& rows) {
    std::set<std::tuple<std::string, std::string, std::string>> all;
    for (const score::FunctionRow* row : rows)
        all.emplace(row->module, row->name, row->source);
    return counted(all.size(), "function was", "functions were");
}

template <class Wanted>
Rows rows_that(Reports reports, const Wanted& wanted) {
    Rows rows;
    for (const score::Report* report : reports)
        for (const score::FunctionRow& row : report->functions)
            if (wanted(row)) rows.push_back(&row);
    return rows;
}

std::string range_text(const std::string& low, const std::string& high) {
    return low == high ? low : fmt::format("{} to {}", low, high);
}

/// The part of the run that the windows of these functions cover.
std::string cover_text(const Rows& rows) {
    const auto [least, most] = std::ranges::minmax(rows, {}, &score::FunctionRow::windows_cover);
    return range_text(percent(least->windows_cover), percent(most->windows_cover));
}

std::string budget_text(Reports reports) {
    double least = 0, most = 0;
    for (const score::Report* report : reports) {
        const double budget = report->process.max_overhead;
        if (budget <= 0) continue;
        least = least > 0 ? std::min(least, budget) : budget;
        most = std::max(most, budget);
    }
    return least < most ? fmt::format("--max-overhead {} to {}", percent(least), percent(most))
                        : fmt::format("--max-overhead {}", percent(most));
}

/// Hints say how much of a loss was time off the processors, where that is known.
bool switches_matter(const score::Report& report) {
    const bool told = report.switches.state != trace::SwitchInfo::State::not_told;
    return std::ranges::any_of(report.functions, [&](const score::FunctionRow& row) {
        return row.sample.explainable() || (told && row.rdam >= report.threshold);
    });
}

constexpr auto kUnknown = "waiting and preemption cannot be distinguished from slow work";

}  // namespace

std::string dropped_note(Reports reports) {
    const std::uint64_t dropped = sum(reports, [](const score::Report& report) { return report.dropped; });
    if (dropped == 0) return {};
    return fmt::format("{} lost while recording (buffers or disk full): scores may be too low or too high.",
                       counted(dropped, "event was", "events were"));
}

std::string unwritten_note(Reports reports) {
    const std::uint64_t unwritten =
        sum(reports, [](const score::Report& report) { return report.unwritten; });
    if (unwritten == 0) return {};
    return fmt::format(
        "{} started but never written: the program was killed at that point, or a signal handler did not "
        "return.",
        counted(unwritten, "event was", "events were"));
}

std::string abandoned_note(Reports reports) {
    const std::uint64_t abandoned =
        sum(reports, &Counts::abandoned_by_jump) + sum(reports, &Counts::abandoned_at_gap);
    if (abandoned == 0) return {};
    // Other tools have states that begin inside a call and end after it.
    const bool foreign = std::ranges::any_of(
        reports, [](const score::Report* report) { return !report->process.recorder.empty(); });
    if (foreign)
        return fmt::format(
            "{} no end in the trace before that of the call around (overlapping states, longjmp, lost "
            "events): counted, not scored.",
            counted(abandoned, "call has", "calls have"));
    return fmt::format("{} left without a recorded end (longjmp, lost events): counted, not scored.",
                       counted(abandoned, "call was", "calls were"));
}

std::string too_deep_note(Reports reports) {
    const std::uint64_t open = sum(reports, &Counts::abandoned_too_deep);
    if (open == 0) return {};
    return fmt::format("{} nested too deeply to be followed: counted, not scored.",
                       counted(open, "call was", "calls were"));
}

std::string still_open_note(Reports reports) {
    const std::uint64_t open = sum(reports, &Counts::abandoned_at_end);
    if (open == 0) return {};
    return fmt::format("{} still running when the recording of the thread ended: counted, not scored.",
                       counted(open, "call was", "calls were"));
}

std::string inside_unended_note(Reports reports) {
    const std::uint64_t inside = sum(reports, &Counts::inside_unended);
    if (inside == 0) return {};
    return fmt::format("{} inside a call of the same function of which no end was seen: scored all the same.",
                       counted(inside, "call was", "calls were"));
}

std::string no_beginning_note(Reports reports) {
    const std::uint64_t unmatched =
        sum(reports, &Counts::unmatched_leaves) + sum(reports, &Counts::stray_tail_enters);
    if (unmatched == 0) return {};
    return fmt::format("{} without a recorded start: ignored.", counted(unmatched, "call end", "call ends"));
}

std::string bad_clock_note(Reports reports) {
    const std::uint64_t bad = sum(reports, &Counts::bad_clock) + sum(reports, &Counts::bad_pauses);
    if (bad == 0) return {};
    return fmt::format("{} started (do the processors' clocks agree?): counted, not scored.",
                       counted(bad, "call or pause ended before it", "calls or pauses ended before they"));
}

std::string too_long_note(Reports reports) {
    const std::uint64_t calls = sum(reports, [](const score::Report& report) { return report.too_long; });
    if (calls == 0) return {};
    return fmt::format("{} too many different calls inside to be compared: not scored.",
                       counted(calls, "call has", "calls have"));
}

std::string switched_off_note(Reports reports) {
    const Rows off = rows_that(reports, [](const auto& row) { return row.switched_off_ns.has_value(); });
    if (off.empty()) return {};
    return fmt::format(
        "{} switched off during the run, to stay within {}: {}. Later calls are missing, also in the "
        "sequences of their callers.",
        functions_were(off), budget_text(reports), some_names(off));
}

/// One line for all functions; sampling_details() has the rest.
std::string sampling_note(Reports reports) {
    const Rows windowed = rows_that(reports, [](const auto& row) { return row.windowed; });
    const Rows trees = rows_that(reports, [](const auto& row) { return row.sampled && !row.windowed; });
    std::string text;
    if (!windowed.empty())
        text = fmt::format("{} sampled in windows that cover {} of the run: {}", functions_were(windowed),
                           cover_text(windowed), some_names(windowed));
    if (!trees.empty())
        text += fmt::format("{}{} sampled by randomly drawn call trees, to stay within {}: {}",
                            text.empty() ? "" : "; ", functions_were(trees), budget_text(reports),
                            some_names(trees));
    if (text.empty()) return {};
    const bool all_counted =
        rows_that(reports, [](const auto& row) { return row.estimates_occurrences(); }).empty();
    return text + (all_counted ? ". Lost times are estimates; calls were counted."
                               : ". Counts and lost times are estimates.");
}

std::string few_windows_note(Reports reports) {
    const Rows few = rows_that(reports, [](const auto& row) { return row.few_windows; });
    if (few.empty()) return {};
    return fmt::format(
        "These functions have no score, because they were called in fewer than {} windows, are much faster "
        "than their probes, are slowed down by them, or are recursive (a window may open inside a "
        "recursion): {}.",
        score::kFewWindows, some_names(few));
}

std::string never_scored_note(Reports reports) {
    const Rows never = rows_that(reports, [](const auto& row) { return row.no_score && !row.copied_stacks; });
    if (never.empty()) return {};
    return fmt::format("No call was seen to begin and end, so the score is unknown: {}.", some_names(never));
}

std::string partners_note(Reports reports) {
    const Rows partners = rows_that(reports, [](const auto& row) { return row.partner; });
    std::vector<std::string> costly;
    for (const score::Report* report : reports)
        for (const std::string& name : report->costly_partners)
            if (std::ranges::find(costly, name) == costly.end()) costly.push_back(name);
    std::string text;
    const bool waking =
        std::ranges::any_of(partners, [](const auto* row) { return row->name.ends_with(trace::kWaking); });
    if (!partners.empty())
        text = fmt::format(
            "Recorded besides the listed functions, as they end waits in those: {}.{}", some_names(partners),
            waking ? " Of those marked (waking), only calls that found a thread waiting were." : "");
    if (!costly.empty())
        text += fmt::format(
            "{}Called too often to be recorded, so that it is not known who ends these waits: {}.",
            text.empty() ? "" : " ", some_names(costly));
    return text;
}

std::string copied_stacks_note(Reports reports) {
    std::vector<std::string> libraries;
    for (const score::Report* report : reports)
        if (const std::string& each = report->process.copied_stacks;
            !each.empty() && std::ranges::find(libraries, each) == libraries.end())
            libraries.push_back(each);
    if (libraries.empty()) return {};
    return fmt::format(
        "Stacks of this program are copied away ({}): which end belongs to which call is not known, so "
        "durations and scores are unknown, except for functions of libc that wait. Calls are counted.",
        fmt::join(libraries, ", "));
}

std::string fibers_note(Reports reports) {
    std::uint64_t fibers = 0;
    for (const score::Report* report : reports)
        fibers += static_cast<std::uint64_t>(std::ranges::count_if(
            report->threads, [](const score::ThreadRow& row) { return row.fiber != 0; }));
    if (fibers == 0) return {};
    return fmt::format(
        "Calls on {} of their own (fibers, coroutines) are compared by stack, like those of a thread; a call "
        "lasts "
        "from its begin to its end, also while other fibers run.",
        counted(fibers, "stack", "stacks"));
}

std::string no_score_reason(const score::FunctionRow& row) {
    if (row.copied_stacks) return "stacks are copied away";
    return row.no_score ? "no call was seen to end" : "too little was seen in windows";
}

std::string clock_step_note(Reports reports) {
    // A step is a hundredth of that: what the second figure of a score is about.
    constexpr double kManySteps = 100;
    double step = 0;
    for (const score::Report* report : reports) {
        const double own = report->clock_step_ns;
        const bool matters = std::ranges::any_of(report->functions, [&](const score::FunctionRow& row) {
            return row.outermost > 0 && (row.median_ns <= kManySteps * own || row.min_ns < own);
        });
        if (matters && own >= score::kCoarseStepNs) step = std::max(step, own);
    }
    if (step == 0) return {};
    return fmt::format(
        "The clock moves by {} at a time: differences below that are not counted, so scores of functions "
        "that take less than {} may be too low.",
        human_time(step), human_time(kManySteps * step));
}

std::string coarse_clock_advice() {
    return fmt::format(
        "The true score may be higher: the typical call takes fewer than {:.0f} steps of the clock, which "
        "hide what "
        "it loses. The interval includes a step for each call.",
        score::kFewSteps);
}

std::string lost_switches_note(Reports reports) {
    const std::uint64_t lost = sum(reports, [](const score::Report& report) {
        return switches_matter(report) ? report.switches.lost : 0;
    });
    if (lost == 0) return {};
    const double missing = sum(reports, [](const score::Report& report) {
        return switches_matter(report) ? report.switches_missing_ns : 0;
    });
    return fmt::format("{} lost for lack of space: off-CPU times are {}.",
                       counted(lost, "context-switch record was", "context-switch records were"),
                       missing > 0 ? fmt::format("not known for {} of the run{}", human_time(missing),
                                                 reports.size() > 1 ? "s" : "")
                                   : "incomplete");
}

std::string stopped_switches_note(Reports reports) {
    std::vector<const score::Report*> stopped;
    std::ranges::copy_if(reports, std::back_inserter(stopped), [](const score::Report* report) {
        return report->switches.state == trace::SwitchInfo::State::stopped && switches_matter(*report);
    });
    if (stopped.empty()) return {};
    const auto [first, last] = std::ranges::minmax(stopped, {}, &score::Report::switches_until_ns);
    const std::string until =
        range_text(human_time(first->switches_until_ns), human_time(last->switches_until_ns));
    // A rate is that of one process.
    const std::string reason = stopped.size() > 1 ? "they were too frequent" : first->switches.reason;
    return fmt::format("Context switches were recorded only up to {}{}: after that, {}.", until,
                       reason.empty() ? "" : fmt::format(" ({})", reason), kUnknown);
}

std::string no_switches_note(const score::Report& report) {
    using State = trace::SwitchInfo::State;
    const trace::SwitchInfo& switches = report.switches;
    if (!switches_matter(report)) return {};
    if (switches.state == State::off)
        return fmt::format("Context switches were not recorded (--switches off): {}.", kUnknown);
    if (switches.state != State::unavailable && switches.state != State::not_told) return {};
    return fmt::format("Context switches were not recorded{}: {}.",
                       switches.reason.empty() ? "" : fmt::format(" ({})", switches.reason), kUnknown);
}

std::string crowding_note(Reports reports) {
    constexpr double kMinShare = 0.02;
    const double crowded = sum(reports, [](const score::Report& report) { return report.crowded_ns; });
    const double all = crowded + sum(reports, [](const score::Report& report) { return report.threads_ns; });
    if (crowded <= 0 || crowded < kMinShare * all) return {};
    return fmt::format(
        "The threads spent {} of the time waiting for processors that other threads of the program occupied. "
        "No function is charged for that.",
        percent(crowded / all));
}

std::string never_called_note(Reports reports) {
    std::set<std::string> called;
    if (reports.size() > 1)
        for (const score::FunctionRow* row : rows_that(reports, [](const auto&) { return true; }))
            called.insert(score::qualified_name(row->module, row->name));
    std::vector<std::string> names;
    for (const score::Report* report : reports)
        std::ranges::copy_if(report->never_called, std::back_inserter(names),
                             [&](const std::string& name) { return !called.contains(name); });
    if (names.empty()) return {};
    const bool part = std::ranges::any_of(
        reports, [](const score::Report* report) { return report->left_out.of_the_run(); });
    const bool sampled = !rows_that(reports, [](const auto& row) { return row.sampled; }).empty();
    return fmt::format("Never called{}{}: {}.", part ? " in this part of the run" : "",
                       sampled ? ", or not while they were recorded" : "", some_names(names));
}

namespace {

std::string short_command(std::vector<std::string> words) {
    if (!words.empty()) words.front().erase(0, words.front().rfind('/') + 1);
    return command_text(words);
}

}  // namespace

std::string what_it_is(const score::Report& report) {
    const trace::ProcessInfo& process = report.process;
    if (!process.title.empty()) return process.title;
    std::string command = short_command(process.command);
    const auto first = std::ranges::find(report.threads, process.pid, &score::ThreadRow::tid);
    if (first == report.threads.end() || first->name.empty()) return command;
    // The kernel keeps 15 bytes of the program's name; a script goes by its interpreter or its own.
    const std::string& name = first->name;
    const bool own =
        process.executable.find(name) == std::string::npos && command.find(name) == std::string::npos;
    return own ? name + ": " + command : command;
}

}  // namespace rdam::output
