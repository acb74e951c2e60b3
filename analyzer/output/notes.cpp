#include "analyzer/output/notes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analyzer/output/fields.h"
#include "analyzer/report/ranking.h"
#include "tools/base/units.h"
#include "wrappers/plan/planner.h"

namespace rdam::output {
namespace {

void add_damage(const score::Report& report, std::vector<std::string>& out) {
    const trace::Damage& damage = report.damage;
    if (damage.bad_header) out.emplace_back("The file header of the trace is damaged; it holds no events.");
    if (damage.no_index)
        out.emplace_back("The end of the trace is missing; the report covers what could be read.");
    if (damage.bad_chunks > 0) {
        out.push_back(fmt::format("{} of the trace {} damaged and skipped.",
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

void add_refused(const score::Report& report, std::vector<std::string>& out) {
    std::unordered_set<std::string> said;  // lists may be long
    for (const trace::AnswerInfo& answer : report.refused) {
        const bool not_found = static_cast<ListVerdict>(answer.verdict) == ListVerdict::not_found;
        const std::string& name = answer.function.empty() ? answer.entry : answer.function;
        std::string text = fmt::format("{} was not recorded: {}{}", name, not_found ? "not found" : "skipped",
                                       answer.reason.empty() ? "." : " (" + answer.reason + ").");
        // Two entries of the list may be about one function.
        if (said.insert(text).second) out.push_back(std::move(text));
    }
}

/// A hundredth is what the second figure of a score is about.
void add_machine(const score::Report& report, std::vector<std::string>& out) {
    constexpr double kMinShare = 0.01;
    const double share = report.process.machine_share;
    if (share < kMinShare) return;
    out.push_back(
        fmt::format("Interrupts or the host took about {} of every thread's time, as a measurement of some "
                    "milliseconds and /proc/stat over the run show: scores below {:.2f} may come from the "
                    "machine.",
                    percent(share), std::ceil(100 * share) / 100));
}

/// Where it is known when the agent ran in a thread's place, that is taken out.
void add_agent(const score::Report& report, std::vector<std::string>& out) {
    const auto doubtful = static_cast<std::uint64_t>(
        std::ranges::count_if(report.functions, &score::FunctionRow::maybe_recorder));
    if (doubtful == 0) return;
    constexpr double kSecond = 1e9;
    const bool part = report.agent_bound_ns < report.agent.running_cpu_seconds * kSecond;
    const std::string time = human_time(report.agent_bound_ns);
    out.push_back(fmt::format(
        "rdam-agent {}, perhaps in place of the program's threads; it may have caused the lost time of {} "
        "(marked ?).",
        part ? "may have run for all of these " + time : "ran for " + time + " during the run",
        counted(doubtful, "function", "functions")));
}

void add_counters(const score::Report& report, std::vector<std::string>& out) {
    const trace::CounterInfo& counters = report.counters;
    if (counters.state == trace::CounterInfo::State::unavailable)
        out.push_back(fmt::format("Instructions were not counted: {}.", counters.reason));
}

std::string window_text(const score::LeftOut& left_out) {
    if (!left_out.until_ns) return fmt::format("from {} on", human_time(*left_out.since_ns));
    if (!left_out.since_ns) return fmt::format("up to {}", human_time(*left_out.until_ns));
    return fmt::format("from {} to {}", human_time(*left_out.since_ns), human_time(*left_out.until_ns));
}

void add_left_out(const score::Report& report, std::vector<std::string>& out) {
    const score::LeftOut& left_out = report.left_out;
    std::string text;
    if (left_out.since_ns || left_out.until_ns) text = fmt::format("the run {}", window_text(left_out));
    const auto add = [&](std::uint64_t count, const char* one, const char* many) {
        if (count == 0) return;
        text += fmt::format("{}{} left out", text.empty() ? "" : ", ", counted(count, one, many));
    };
    add(left_out.threads, "thread", "threads");
    add(left_out.functions, "function", "functions");
    if (!text.empty()) out.push_back(fmt::format("Only part of the trace is shown: {}.", text));
    if (left_out.cut_off > 0) {
        out.push_back(fmt::format("{} beyond that time: not scored.",
                                  counted(left_out.cut_off, "call extends", "calls extend")));
    }
}

void add_end(const score::Report& report, std::vector<std::string>& out) {
    if (!report.process.clean_end && !report.damage.no_index) {
        out.emplace_back(
            "The program called _exit() or was killed: the trace holds what was recorded until then, and "
            "calls that were still running have no end.");
    }
}

void add_no_switches(const score::Report& report, std::vector<std::string>& out) {
    if (std::string text = no_switches_note(report); !text.empty()) out.push_back(std::move(text));
}

void add_remarks(const score::Report& report, std::vector<std::string>& out) {
    out.insert(out.end(), report.remarks.begin(), report.remarks.end());
}

/// One of the two.
struct Kind {
    void (*add)(const score::Report&, std::vector<std::string>&) = nullptr;
    SummedNote sum = nullptr;
};

constexpr Kind kKinds[] = {
    {.add = add_left_out},          {.add = add_damage},         {.add = add_end},
    {.sum = dropped_note},          {.sum = unwritten_note},     {.sum = abandoned_note},
    {.sum = too_deep_note},         {.sum = still_open_note},    {.sum = inside_unended_note},
    {.sum = no_beginning_note},     {.sum = bad_clock_note},     {.sum = too_long_note},
    {.sum = switched_off_note},     {.sum = lost_switches_note}, {.add = add_remarks},
    {.sum = sampling_note},         {.sum = few_windows_note},   {.sum = never_scored_note},
    {.sum = partners_note},         {.sum = copied_stacks_note}, {.sum = fibers_note},
    {.sum = stopped_switches_note}, {.sum = clock_step_note},    {.add = add_no_switches},
    {.sum = crowding_note},         {.add = add_machine},        {.add = add_agent},
    {.add = add_counters},          {.add = add_refused},        {.sum = never_called_note}};

/// So many of them are warnings: those up to what other tools' traces lack.
constexpr std::size_t kWarnings = 15;
static_assert(kKinds[kWarnings - 1].add == add_remarks);

/// What `kind` says of one process.
std::vector<std::string> texts(const Kind& kind, const score::Report& report) {
    std::vector<std::string> out;
    if (kind.add != nullptr) {
        kind.add(report, out);
    } else if (std::string text = kind.sum(std::array{&report}); !text.empty()) {
        out.push_back(std::move(text));
    }
    return out;
}

/// Every text once, with the processes to which it applies.
std::vector<SharedNote> by_text(const Kind& kind, Reports reports) {
    std::vector<SharedNote> shared;
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        for (std::string& text : texts(kind, *reports[i])) {
            const auto [place, is_new] = places.try_emplace(text, shared.size());
            if (is_new) shared.push_back({.text = std::move(text)});
            shared[place->second].processes.push_back(i);
        }
    }
    return shared;
}

/// The sum over the processes that have such a note.
SharedNote added_up(const Kind& kind, Reports reports, const std::vector<SharedNote>& each) {
    SharedNote sum;
    for (const SharedNote& note : each)
        sum.processes.insert(sum.processes.end(), note.processes.begin(), note.processes.end());
    std::ranges::sort(sum.processes);
    std::vector<const score::Report*> parts;
    for (const std::size_t process : sum.processes)
        parts.push_back(reports[process]);
    sum.text = kind.sum(parts);
    return sum;
}

}  // namespace

std::vector<std::string> notes(const score::Report& report) {
    std::vector<std::string> out;
    for (const Kind& kind : kKinds)
        std::ranges::move(texts(kind, report), std::back_inserter(out));
    return out;
}

std::vector<std::string> warnings(const score::Report& report) {
    std::vector<std::string> out;
    for (const Kind& kind : std::span{kKinds}.first<kWarnings>())
        std::ranges::move(texts(kind, report), std::back_inserter(out));
    return out;
}

std::vector<SharedNote> notes(Reports reports, Reports all) {
    std::vector<SharedNote> out;
    for (const Kind& kind : kKinds) {
        if (kind.sum == never_called_note) {
            // What is about all processes names none, and a short one may have called what the others have
            // not.
            if (std::string text = never_called_note(all); !text.empty())
                out.push_back({.text = std::move(text)});
            continue;
        }
        std::vector<SharedNote> each = by_text(kind, reports);
        if (kind.sum != nullptr && each.size() > 1) each = {added_up(kind, reports, each)};
        std::ranges::move(each, std::back_inserter(out));
    }
    return out;
}

std::vector<std::string> notes(const score::Report& report, const Symbols& symbols) {
    std::vector<std::string> out = notes(report);
    const std::vector<std::string> remarks = symbols.remarks();
    out.insert(out.end(), remarks.begin(), remarks.end());
    return out;
}

namespace {

/// The program's own time is what is left of a run that was mostly recording: the longer, the less precise.
std::string rounded(double slowdown) {
    constexpr double kPrecise = 2, kRough = 4;
    return fmt::format("{:.{}f}", slowdown, slowdown < kPrecise ? 2 : slowdown < kRough ? 1 : 0);
}

/// "1.02 to 1.10 × as long".
std::string times_range(const score::RecordingCost& cost) {
    if (cost.slowdown_high >= score::kMaxSlowdown)
        return fmt::format("{} × as long or more", rounded(std::min(cost.slowdown_low, score::kMaxSlowdown)));
    const std::string least = rounded(cost.slowdown_low), most = rounded(cost.slowdown_high);
    return least == most ? "about " + least + " × as long" : least + " to " + most + " × as long";
}

}  // namespace

std::string recording_cost(const score::Report& report) {
    const score::RecordingCost& cost = report.cost;
    if (report.process.simulated)
        return fmt::format("simulated by {}: recording cost nothing", report.process.recorder);
    if (!report.process.recorder.empty())
        return fmt::format("recorded by {}, whose cost is not known", report.process.recorder);
    if (cost.probes_ns + cost.gates_ns + cost.pauses_ns + cost.waits_ns + cost.agent_ns + cost.switches_ns <=
        0)
        return "recording cost nothing";
    std::string text =
        fmt::format("recording made this run {}{}: probes {}", times_range(cost),
                    cost.idle_machine ? " (assuming no other load)" : "", human_time(cost.probes_ns));
    if (cost.gates_ns > 0) text += fmt::format(", closed gates {}", human_time(cost.gates_ns));
    if (cost.pauses_ns > 0) text += fmt::format(", packing {}", human_time(cost.pauses_ns));
    if (cost.switches_ns > 0) text += fmt::format(", context switches {}", human_time(cost.switches_ns));
    if (cost.agent_ns > 0) text += fmt::format(", agent {} on busy processors", human_time(cost.agent_ns));
    if (cost.waits_ns > 0) text += fmt::format(", waits {}", human_time(cost.waits_ns));
    return text;
}

std::string made_longer(const score::RecordingCost& cost) {
    return cost.slowdown < score::kMaxSlowdown ? fmt::format("{} ×", rounded(cost.slowdown))
                                               : fmt::format("≥{:.0f} ×", score::kMaxSlowdown);
}

std::string threads_text(const score::Report& report) {
    const auto fibers = static_cast<std::uint64_t>(
        std::ranges::count_if(report.threads, [](const score::ThreadRow& row) { return row.fiber != 0; }));
    std::string text = counted(report.threads.size() - fibers, "thread", "threads");
    return fibers == 0 ? text : text + ", " + counted(fibers, "fiber", "fibers");
}

std::string floor_advice() {
    return "A function that always does the same work would score as much, from clock resolution and machine "
           "noise alone.";
}

std::string floor_advice(const score::FunctionRow& row) {
    return fmt::format(
        "A function that always does the same work would score up to {:.3f} here, from clock resolution and "
        "machine noise alone.",
        row.floor);
}

std::string interval_advice() {
    return "95 %: the confidence interval of the score within this run; runs differ by more.";
}

std::string lower_bound_advice() {
    return fmt::format(
        "The true score may be higher: more than {:.0f} % of the time is in sequences seen fewer than {} "
        "times, whose "
        "fastest execution may have been disturbed too. Record a function called in the inner loop, or try "
        "--fold-loops.",
        score::kFewShare * 100, score::kFewOccurrences);
}

std::string shortest_missing_advice() {
    return "Whoever recorded this trace left out calls that were short, so the fastest ones may be missing, "
           "and the "
           "true score may be higher. Record all calls.";
}

std::string open_calls_advice() {
    return "A call was still running when its thread ended. How much of that was lost is unknown; the "
           "interval includes "
           "all of it.";
}

namespace {

/// `source`: file, or file:line.
bool is_fortran(std::string_view source) {
    const std::string_view file = source.substr(0, source.rfind(':'));
    const auto dot = file.rfind('.');
    if (dot == std::string_view::npos) return false;
    std::string ending{file.substr(dot + 1)};
    std::ranges::transform(ending, ending.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::array<std::string_view, 9> kEndings{"f",   "for", "ftn", "f77", "f90",
                                                       "f95", "f03", "f08", "f18"};
    return std::ranges::find(kEndings, std::string_view{ending}) != kEndings.end();
}

std::string region_lines(std::string_view function, bool fortran) {
    if (fortran)
        return fmt::format(
            "with rdam.f90: call rdam_begin('{0} loop') at the start of an iteration, call rdam_end('{0} "
            "loop') at its end.",
            function);
    return fmt::format(
        "with #include <rdam/rdam.h>: RDAM_BEGIN(\"{0} loop\"); at the start of an iteration, "
        "RDAM_END(\"{0} loop\"); at its end.",
        function);
}

}  // namespace

std::string inner_loop_advice(const score::FunctionRow& row, const causes::HotLines& hot_lines) {
    // There may be many calls; of those of an inner loop, no more would be in the sample.
    if (!row.markable || row.sampled) return {};
    const std::string place = row.source.empty() ? "" : fmt::format(" ({})", row.source);
    const auto hot = hot_lines.find(row.function);
    const std::string loop =
        hot != hot_lines.end()
            ? fmt::format("the inner loop of {} around {}:{}, the line with {} of its samples", row.name,
                          hot->second.file, hot->second.line, percent(hot->second.share))
            : fmt::format("an inner loop of {}{}", row.name, place);
    return fmt::format("mark {}, {}", loop, region_lines(row.name, is_fortran(row.source)));
}

std::string lower_bound_advice(const score::FunctionRow& row, const causes::HotLines& hot_lines) {
    const std::string loop = inner_loop_advice(row, hot_lines);
    return loop.empty() ? lower_bound_advice() : lower_bound_advice() + " Or " + loop;
}

std::string few_patterns_advice() {
    return fmt::format(
        "The true score may be higher: the pattern was seen fewer than {} times, and even the fastest may "
        "have been disturbed.",
        score::kFewOccurrences);
}

std::string minimum_alone_advice() {
    return "One call, or a few (at most 1 %), were far faster than all others, and most of the score is the "
           "distance to them: perhaps early returns, or calls cut short. Try --baseline p1, or a key "
           "parameter that distinguishes them.";
}

std::string maybe_recorder_advice() {
    return "The recorder may have caused this loss: rdam-agent may have run for longer than was lost, in "
           "place "
           "of these threads. Record context switches (--switches on), or give the agent "
           "its own processor (--agent-cpus).";
}

std::vector<std::string> mark_legends(
    std::span<const std::reference_wrapper<const score::FunctionRow>> rows) {
    std::vector<std::string> lines;
    const auto any = [&](const auto& of) { return std::ranges::any_of(rows, of); };
    const auto marked = [&](std::string_view mark) {
        return any([&](const score::FunctionRow& row) { return score_mark(row) == mark; });
    };
    if (marked(kFloorMark)) lines.push_back(fmt::format("{}: {}", kFloorMark, floor_advice()));
    if (any(&score::FunctionRow::maybe_recorder)) lines.push_back("?: " + maybe_recorder_advice());
    const auto bounds = [&](bool score::FunctionRow::*why) {
        return any([&](const auto& row) { return row.get().*why && score_mark(row) == kBoundMark; });
    };
    const bool bounded = bounds(&score::FunctionRow::few_occurrences);
    if (bounded) lines.push_back("≥: " + lower_bound_advice());
    if (bounds(&score::FunctionRow::coarse_clock))
        lines.push_back("≥, for short calls: " + coarse_clock_advice());
    const bool open = any([](const score::FunctionRow& row) { return row.open_ns > 0; });
    if (open) lines.push_back((bounded ? "≥, for open calls: " : "≥: ") + open_calls_advice());
    const bool missing = bounds(&score::FunctionRow::shortest_missing);
    if (missing)
        lines.push_back((bounded || open ? "≥, for missing calls: " : "≥: ") + shortest_missing_advice());
    if (marked(kAloneMark)) lines.push_back("!: " + minimum_alone_advice());
    if (any(&score::FunctionRow::sampled)) {
        lines.push_back((bounded || open || missing ? "≥, for samples: " : "≥: ") + sampled_advice());
        lines.emplace_back("~: an estimate; --verbose shows its standard error.");
    }
    if (any([](const score::FunctionRow& row) { return row.switched_off_ns.has_value(); }))
        lines.emplace_back(
            "≥ in front of calls: the function was switched off, and later calls are missing.");
    return lines;
}

std::string sampled_advice() {
    return "The score of a sampled function is the highest of its threads' estimates, minus the amount by "
           "which a highest estimate is too high on average (minus two standard errors where calls were not "
           "counted, or seen in few windows), but no less than what is known of all calls; and the sample "
           "may miss the fastest execution. Calls of some "
           "nanoseconds take longer between two probes than without them: their scores may also be too high; "
           "where their calls were counted, the true score may be as low as the lower end of the interval.";
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
                        : fmt::format("calls ±{}{}",
                                      error(row.occurrences_error, static_cast<double>(row.occurrences)),
                                      row.few_windows ? "" : ", ");
        const std::string errors =
            row.few_windows ? row.counted ? "" : "; standard error: " + occurrences
                            : fmt::format("; standard errors: {}lost ±{}, score ±{}", occurrences,
                                          error(row.lost_error_ns, row.lost_ns), score_text(row.rdam_error));
        out.push_back(fmt::format("{}: sampled {}, {} in the trace{}{}", row.name, how,
                                  counted(row.recorded, "call", "calls"),
                                  row.counted ? ", all were counted" : "", errors));
    }
    return out;
}

}  // namespace rdam::output
