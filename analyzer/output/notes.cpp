#include "analyzer/output/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "analyzer/output/units.h"
#include "analyzer/score/ranking.h"
#include "analyzer/score/sampling_windows.h"
#include "wrappers/plan/planner.h"

namespace rdam::output {
namespace {

void add_damage(const score::Report& report, std::vector<std::string>& out) {
    const trace::Damage& damage = report.damage;
    if (damage.bad_header)
        out.emplace_back("The first bytes of the trace, which only say what it is, are damaged.");
    if (damage.no_index)
        out.emplace_back("The end of the trace is missing; what could be found in it is shown.");
    if (damage.bad_chunks > 0) {
        out.push_back(fmt::format("{} of the trace {} damaged and left out.",
                                  counted(damage.bad_chunks, "piece", "pieces"),
                                  damage.bad_chunks == 1 ? "is" : "are"));
    }
    if (damage.missing_chunks > 0) {
        out.push_back(fmt::format("{} of the trace {} missing.",
                                  counted(damage.missing_chunks, "piece", "pieces"),
                                  damage.missing_chunks == 1 ? "is" : "are"));
    }
    if (damage.skipped_bytes > 0) {
        out.push_back(fmt::format("{} of the trace could not be read.",
                                  counted(damage.skipped_bytes, "byte", "bytes")));
    }
}

void add_losses(const score::Report& report, std::vector<std::string>& out) {
    if (!report.process.clean_end && !report.damage.no_index) {
        out.emplace_back(
            "The program was left by _exit() or killed: what it had recorded is here, and calls that were "
            "open have no end.");
    }
    if (report.dropped > 0) {
        out.push_back(
            fmt::format("{} lost while recording (buffers or disk full): scores may be too low or too high.",
                        counted(report.dropped, "event was", "events were")));
    }
    if (report.holes > 0) {
        out.push_back(fmt::format(
            "{} begun and never written: the program was killed there, or a signal handler did not return.",
            counted(report.holes, "event was", "events were")));
    }
}

void add_unscored(const score::Report& report, std::vector<std::string>& out) {
    const calls::MatchCounts& counts = report.counts;
    const std::uint64_t abandoned = counts.abandoned_by_jump + counts.abandoned_at_gap;
    if (abandoned > 0) {
        out.push_back(
            fmt::format("{} left without being seen to end (longjmp, lost events): counted, not scored.",
                        counted(abandoned, "call was", "calls were")));
    }
    if (counts.abandoned_at_end > 0) {
        out.push_back(
            fmt::format("{} still running when the recording of the thread ended: counted, not scored.",
                        counted(counts.abandoned_at_end, "call was", "calls were")));
    }
    const std::uint64_t unmatched = counts.unmatched_leaves + counts.stray_tail_enters;
    if (unmatched > 0) {
        out.push_back(fmt::format("{} whose beginning was not recorded: ignored.",
                                  counted(unmatched, "end of a call", "ends of calls")));
    }
    const std::uint64_t bad = counts.bad_clock + counts.bad_pauses;
    if (bad > 0) {
        out.push_back(
            fmt::format("{} earlier than begun (do the processors' clocks agree?): counted, not scored.",
                        counted(bad, "call or pause ended", "calls or pauses ended")));
    }
    if (report.too_long > 0) {
        out.push_back(
            fmt::format("{} too many different calls inside to be compared with others: not scored.",
                        counted(report.too_long, "call has", "calls have")));
    }
}

void add_answers(const score::Report& report, std::vector<std::string>& out) {
    for (const trace::AnswerInfo& answer : report.refused) {
        const bool not_found = static_cast<Verdict>(answer.verdict) == Verdict::not_found;
        const std::string& name = answer.function.empty() ? answer.entry : answer.function;
        out.push_back(fmt::format("{} was not recorded: {}{}", name, not_found ? "not found" : "refused",
                                  answer.reason.empty() ? "." : " (" + answer.reason + ")."));
    }
    if (report.never_called.empty()) return;
    constexpr std::size_t kShown = 5;
    std::string names;
    for (std::size_t i = 0; i < report.never_called.size() && i < kShown; ++i) {
        names += (i == 0 ? "" : ", ") + report.never_called[i];
    }
    if (report.never_called.size() > kShown)
        names += fmt::format(" and {} more", report.never_called.size() - kShown);
    const bool sampled = std::ranges::any_of(report.functions, &score::FunctionRow::sampled);
    out.push_back(fmt::format("Never called{}{}: {}.",
                              report.left_out.of_the_run() ? " in this part of the run" : "",
                              sampled ? ", or never while they were recorded" : "", names));
}

bool needs_quotes(const std::string& word) {
    return word.empty() || word.find_first_of(" \t\n'\"\\$`*?[](){}<>|&;#~!") != std::string::npos;
}

/// The first few of them.
std::string some_names(const std::vector<const score::FunctionRow*>& rows) {
    constexpr std::size_t kShown = 5;
    std::string names;
    for (const score::FunctionRow* row : std::span{rows}.first(std::min(kShown, rows.size())))
        names += (names.empty() ? "" : ", ") + row->name;
    if (rows.size() > kShown) names += fmt::format(" and {} more", rows.size() - kShown);
    return names;
}

template <class Wanted>
std::vector<const score::FunctionRow*> rows_that(const score::Report& report, const Wanted& wanted) {
    std::vector<const score::FunctionRow*> rows;
    for (const score::FunctionRow& row : report.functions)
        if (wanted(row)) rows.push_back(&row);
    return rows;
}

/// The part of the run that the windows of these functions cover.
std::string cover_text(const std::vector<const score::FunctionRow*>& rows) {
    const auto [least, most] = std::ranges::minmax(rows, {}, &score::FunctionRow::windows_cover);
    const std::string low = percent(least->windows_cover), high = percent(most->windows_cover);
    return low == high ? low : fmt::format("{} to {}", low, high);
}

/// One line for all functions; sampling_details() has the rest.
void add_sampling(const score::Report& report, std::vector<std::string>& out) {
    const std::string budget = fmt::format("--max-overhead {}", percent(report.process.max_overhead));
    if (const auto off = rows_that(report, [](const auto& row) { return row.switched_off_ns.has_value(); });
        !off.empty())
        out.push_back(
            fmt::format("{} switched off in the course of the run, to keep to {}: {}. Later calls are "
                        "missing, in the sequences of their callers too.",
                        counted(off.size(), "function was", "functions were"), budget, some_names(off)));
    const auto windowed = rows_that(report, [](const auto& row) { return row.windowed; });
    const auto trees = rows_that(report, [](const auto& row) { return row.sampled && !row.windowed; });
    std::string text;
    if (!windowed.empty())
        text = fmt::format("{} sampled in windows that cover {} of the run: {}",
                           counted(windowed.size(), "function was", "functions were"), cover_text(windowed),
                           some_names(windowed));
    if (!trees.empty())
        text += fmt::format("{}{} sampled by call trees drawn at random, to keep to {}: {}",
                            text.empty() ? "" : "; ", counted(trees.size(), "function was", "functions were"),
                            budget, some_names(trees));
    const bool counted = std::ranges::none_of(report.functions, &score::FunctionRow::estimates_occurrences);
    if (!text.empty())
        out.push_back(text + (counted ? ". Lost times are estimates; occurrences were counted."
                                      : ". Counts and lost times are estimates."));
    if (const auto few = rows_that(report, [](const auto& row) { return row.few_windows; }); !few.empty())
        out.push_back(fmt::format(
            "No score for what was called in fewer than {} windows, or takes much less time than its "
            "probes: {}.",
            score::kFewWindows, some_names(few)));
}

/// Hints say how much of a loss was time off the processors, where that is known.
void add_switches(const score::Report& report, std::vector<std::string>& out) {
    using State = trace::SwitchInfo::State;
    const trace::SwitchInfo& switches = report.switches;
    const bool told = switches.state != State::not_told;
    const bool matters = std::ranges::any_of(report.functions, [&](const score::FunctionRow& row) {
        return !row.hints.empty() || (told && row.rdam >= report.threshold);
    });
    if (!matters) return;
    if (switches.lost > 0)
        out.push_back(
            fmt::format("{} of context switches had no room: times off the processors are incomplete.",
                        counted(switches.lost, "record", "records")));
    const std::string why = switches.reason.empty() ? "" : fmt::format(" ({})", switches.reason);
    constexpr auto kUnknown = "waiting and preemption cannot be told from slow work";
    switch (switches.state) {
        case State::recorded:
            return;
        case State::stopped:
            out.push_back(fmt::format("Context switches were recorded up to {} only{}: from then on {}.",
                                      human_time(report.switches_until_ns), why, kUnknown));
            return;
        case State::off:
            out.push_back(fmt::format("Context switches were not recorded (--switches off): {}.", kUnknown));
            return;
        case State::unavailable:
        case State::not_told:
            out.push_back(fmt::format("Context switches were not recorded{}: {}.", why, kUnknown));
    }
}

/// Of a program with more threads at work than processors.
void add_crowding(const score::Report& report, std::vector<std::string>& out) {
    constexpr double kWorthTelling = 0.02;
    const double all = report.threads_ns + report.crowded_ns;
    if (report.crowded_ns < kWorthTelling * all) return;
    out.push_back(fmt::format(
        "The threads waited for {} of the time for processors that other threads of the program had. That is "
        "no loss of a function: it is left out.",
        percent(report.crowded_ns / all)));
}

/// A hundredth is what the second figure of a score is about.
void add_machine(const score::Report& report, std::vector<std::string>& out) {
    constexpr double kWorthTelling = 0.01;
    const double share = report.process.machine_share;
    if (share < kWorthTelling) return;
    out.push_back(
        fmt::format("this machine itself takes {} of every thread's time (interrupts, or its host): scores "
                    "below {:.2f} are the machine",
                    percent(share), std::ceil(100 * share) / 100));
}

/// Where it is known when the agent ran in a thread's place, that is taken out.
void add_agent(const score::Report& report, std::vector<std::string>& out) {
    const auto doubtful = static_cast<std::uint64_t>(
        std::ranges::count_if(report.functions, &score::FunctionRow::maybe_recorder));
    if (doubtful == 0) return;
    out.push_back(fmt::format(
        "The recorder's agent ran for {} while the program did, perhaps in the place of its threads: the "
        "lost time of {} (?) may be its doing.",
        human_time(report.agent_bound_ns), counted(doubtful, "function", "functions")));
}

void add_counters(const trace::CounterInfo& counters, std::vector<std::string>& out) {
    if (counters.state == trace::CounterInfo::State::unavailable)
        out.push_back(fmt::format("No instructions were counted: {}.", counters.reason));
}

std::string window_text(const score::LeftOut& left_out) {
    if (!left_out.until_ns) return fmt::format("from {} on", human_time(*left_out.since_ns));
    if (!left_out.since_ns) return fmt::format("up to {}", human_time(*left_out.until_ns));
    return fmt::format("from {} to {}", human_time(*left_out.since_ns), human_time(*left_out.until_ns));
}

void add_left_out(const score::LeftOut& left_out, std::vector<std::string>& out) {
    std::string text;
    if (left_out.since_ns || left_out.until_ns) text = fmt::format("the run {}", window_text(left_out));
    const auto add = [&](std::uint64_t count, const char* one, const char* many) {
        if (count == 0) return;
        text += fmt::format("{}{} left out", text.empty() ? "" : ", ", counted(count, one, many));
    };
    add(left_out.threads, "thread", "threads");
    add(left_out.functions, "function", "functions");
    if (!text.empty()) out.push_back(fmt::format("A part of the trace is shown: {}.", text));
    if (left_out.cut_off > 0) {
        out.push_back(fmt::format("{} over an end of that time: not scored.",
                                  counted(left_out.cut_off, "call reaches", "calls reach")));
    }
}

}  // namespace

std::vector<std::string> notes(const score::Report& report) {
    std::vector<std::string> out;
    add_left_out(report.left_out, out);
    add_damage(report, out);
    add_losses(report, out);
    add_unscored(report, out);
    add_sampling(report, out);
    add_switches(report, out);
    add_crowding(report, out);
    add_machine(report, out);
    add_agent(report, out);
    add_counters(report.counters, out);
    out.insert(out.end(), report.remarks.begin(), report.remarks.end());
    add_answers(report, out);
    return out;
}

std::vector<std::string> notes(const score::Report& report, const Symbols& symbols) {
    std::vector<std::string> out = notes(report);
    const std::vector<std::string> remarks = symbols.remarks();
    out.insert(out.end(), remarks.begin(), remarks.end());
    return out;
}

std::string recording_cost(const score::Report& report) {
    const score::RecordingCost& cost = report.cost;
    if (cost.probes_ns + cost.pauses_ns + cost.waits_ns + cost.agent_ns <= 0) return "recording cost nothing";
    std::string text = fmt::format("recording made this run about {:.2f} × as long: probes {}", cost.slowdown,
                                   human_time(cost.probes_ns));
    if (cost.pauses_ns > 0) text += fmt::format(", packing {}", human_time(cost.pauses_ns));
    if (cost.agent_ns > 0) text += fmt::format(", agent {} on busy processors", human_time(cost.agent_ns));
    if (cost.waits_ns > 0) text += fmt::format(", waits {}", human_time(cost.waits_ns));
    return text;
}

std::string command_text(const std::vector<std::string>& command) {
    std::string text;
    for (const std::string& word : command) {
        if (!text.empty()) text += ' ';
        if (!needs_quotes(word)) {
            text += word;
            continue;
        }
        text += '\'';
        for (const char c : word)
            text += c == '\'' ? std::string{"'\\''"} : std::string{c};
        text += '\'';
    }
    return text;
}

bool is_bound(const score::FunctionRow& row) {
    return row.lower_bound && !(row.windowed && row.minimum_alone);
}

std::string score_mark(const score::FunctionRow& row) {
    return score_mark(row.maybe_recorder, is_bound(row), row.minimum_alone, score::at_floor(row));
}

std::string floor_advice() {
    return "A function of constant work would score as much: it is what the clock and the machine make of "
           "it.";
}

std::string floor_advice(const score::FunctionRow& row) {
    return fmt::format(
        "A function of constant work would score up to {:.3f} here: this is what the clock and the machine "
        "make of it.",
        row.floor);
}

std::string lower_bound_advice() {
    return fmt::format(
        "The true score may be higher: more than {:.0f} % of the time is in sequences seen fewer than {} "
        "times, whose "
        "fastest execution may have been disturbed too. Record a function called in the inner loop, or try "
        "--fold-loops.",
        score::kFewShare * 100, score::kFewOccurrences);
}

std::string inner_loop_advice(const score::FunctionRow& row) {
    // Nobody adds a line to a system library.
    if (row.module.find(".so") != std::string::npos) return {};
    const std::string place = row.source.empty() ? "" : fmt::format(" ({})", row.source);
    const std::string loop =
        row.hot_line
            ? fmt::format("the inner loop of {} around {}:{}, the line with {} of its samples", row.name,
                          row.hot_line->file, row.hot_line->line, percent(row.hot_line->share))
            : fmt::format("an inner loop of {}{}", row.name, place);
    return fmt::format(
        "mark {}, with #include <rdam/rdam.h>: RDAM_BEGIN(\"{} loop\"); before what an iteration does, "
        "RDAM_END(\"{} loop\"); behind it.",
        loop, row.name, row.name);
}

std::string lower_bound_advice(const score::FunctionRow& row) {
    const std::string loop = inner_loop_advice(row);
    return loop.empty() ? lower_bound_advice() : lower_bound_advice() + " Or " + loop;
}

std::string few_patterns_advice() {
    return fmt::format(
        "The true score may be higher: the pattern was seen fewer than {} times, and the fastest may have "
        "been disturbed too.",
        score::kFewOccurrences);
}

std::string minimum_alone_advice() {
    return "A few calls (at most 1 %) were far faster than all the others, and most of the score is the "
           "distance "
           "to them: early returns, perhaps, or calls cut short. Try --baseline p1, or a key parameter that "
           "tells "
           "them apart.";
}

std::string maybe_recorder_advice() {
    return "It may be the recorder's doing: its agent ran for longer, while the program did, than was lost, "
           "and it is not known whether in the place of these threads. Record the context switches "
           "(--switches on), or give the agent a processor of its own (--agent-cpus).";
}

std::string sampled_advice() {
    return "Scores of samples are lower bounds: the estimate less two standard errors, and the fastest "
           "execution may not have been in the sample.";
}

std::vector<std::string> sampling_details(const score::Report& report) {
    std::vector<std::string> out;
    const auto error = [](double value, double estimate) {
        return percent(estimate > 0 ? value / estimate : 0);
    };
    for (const score::FunctionRow& row : report.functions) {
        if (row.switched_off_ns)
            out.push_back(fmt::format("{}: switched off after {}, {} in the trace", row.name,
                                      human_time(*row.switched_off_ns),
                                      counted(row.recorded, "call", "calls")));
        if (!row.sampled) continue;
        const std::string how = row.windowed ? fmt::format("in windows that cover {} of its threads' lives",
                                                           percent(row.windows_cover))
                                             : std::string{"by call trees"};
        const std::string occurrences =
            row.counted ? ""
                        : fmt::format("occurrences ±{}, ",
                                      error(row.occurrences_error, static_cast<double>(row.occurrences)));
        out.push_back(fmt::format("{}: sampled {}, {} in the trace{}; standard errors: {}lost ±{}, score ±{}",
                                  row.name, how, counted(row.recorded, "call", "calls"),
                                  row.counted ? ", all were counted" : "", occurrences,
                                  error(row.lost_error_ns, row.lost_ns), score_text(row.rdam_error)));
    }
    return out;
}

}  // namespace rdam::output
