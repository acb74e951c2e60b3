#include "analyzer/output/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "analyzer/output/lives.h"
#include "analyzer/report/ranking.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"

namespace rdam::output {
namespace {

using score::FunctionRow;
using score::OverallFunction;
using score::ProcessShare;
using score::SequenceRow;
using ThreadPart = OfThread<score::ThreadShare>;
using ThreadPattern = OfThread<score::PatternRow>;

/// A member of the row, as a figure.
template <auto Member, class Row>
double of(const Row& row) {
    if constexpr (requires { row.*Member; })
        return static_cast<double>(row.*Member);
    else
        return static_cast<double>(scored_of(row).*Member);
}

/// One member by another; 0 by 0 is 0.
template <auto Member, auto By, class Row>
double ratio(const Row& row) {
    const double by = of<By>(row);
    return by > 0 ? of<Member>(row) / by : 0.0;
}

template <class Row>
std::string marked(const Row& row) {
    return score_mark(scored_of(row));
}

/// Of one call.
template <auto Member, class Row>
std::string call_time(const Row& row) {
    return call_time_text(scored_of(row), of<Member>(row));
}

template <class Row>
std::string interval(const Row& row) {
    return interval_text(scored_of(row).rdam_low, scored_of(row).rdam_high);
}

template <class Row>
std::string thread_number(const Row& row) {
    return tid_text(row.thread);
}

/// In front of a number of calls.
template <class Row>
std::string estimate(const Row& row) {
    return scored_of(row).estimated ? "~" : "";
}
std::string estimate_or_bound(const FunctionRow& row) {
    return (row.switched_off_ns ? "≥" : "") + std::string{row.estimates_occurrences() ? "~" : ""};
}
std::string estimate_or_bound(const OverallFunction& row) {
    return (row.switched_off ? "≥" : "") + estimate(row);
}

template <class Part>
std::size_t affected(const std::vector<Part>& parts) {
    return static_cast<std::size_t>(
        std::ranges::count_if(parts, [](const Part& part) { return !part.unknown() && part.lost_ns > 0; }));
}
template <auto Parts, class Row>
double affected_of(const Row& row) {
    return static_cast<double>(affected(row.*Parts));
}

std::string score_and_interval(const FunctionRow& row) {
    return fmt::format("{}{} [{}]", score_mark(row), score_text(row.rdam), interval(row));
}

/// The share of a life that `of_times` gives, in a table.
template <double (*of_times)(const score::ThreadRow&)>
double share_of_life(const Life& life) {
    const bool known = life.states_known && life.thread.off_cpu && life.thread.duration_ns > 0;
    return known ? of_times(life.thread) / life.thread.duration_ns : 0;
}
template <double (*of_times)(const score::ThreadRow&)>
std::string life_share_text(const Life& life) {
    const bool known = life.states_known && life.thread.off_cpu && life.thread.duration_ns > 0;
    return known ? percent(share_of_life<of_times>(life)) : "-";
}
double waiting_ns(const score::ThreadRow& row) {
    return row.off_cpu->blocked_ns;
}
double preempted_ns(const score::ThreadRow& row) {
    return row.off_cpu->preempted_ns + row.off_cpu->crowded_ns + row.off_cpu->recorder_ns;
}
double by_program_ns(const score::ThreadRow& row) {
    return row.off_cpu->crowded_ns;
}
double by_others_ns(const score::ThreadRow& row) {
    return row.off_cpu->preempted_ns;
}
double by_recorder_ns(const score::ThreadRow& row) {
    return row.off_cpu->recorder_ns;
}

/// `65–100 %`
std::string recorded_text(const Life& life) {
    const std::string least = percent(life.thread.recorded_low), most = percent(life.thread.recorded_high);
    return least == most ? least : least.substr(0, least.rfind(' ')) + "–" + most;
}
double most_recorded(const Life& life) {
    return life.thread.recorded_high;
}
double life_ns(const Life& life) {
    return life.thread.duration_ns;
}
double life_events(const Life& life) {
    return static_cast<double>(life.thread.events);
}
std::string waits_for(const Life& life) {
    return life.wait != nullptr && life.wait->is_worth_saying()
               ? printable(life.wait->owners) + ", " + percent(life.wait->share)
               : "-";
}
std::string events_text(const Life& life) {
    return grouped(life.thread.events) +
           (life.thread.short_lived ? " (short-lived: does not set the score)" : "");
}

/// Short names, for these lines alone.
namespace tables {

using S = score::Scored;
using F = FunctionRow;
using O = OverallFunction;
using enum Unit;
using enum Needs;
constexpr const char* kCalls = "calls";

constexpr Field<F> kFunction[] = {
    {"rdam", "score", score, of<&S::rdam>, known, 0, marked},
    {"rdam_low", "95 %", score, of<&S::rdam_low>, known, 0, nullptr, interval},
    {"rdam_high", "", score, of<&S::rdam_high>, known},
    {"", "function", name},
    {"floor", "", score, of<&S::floor>},
    {"rank", "", count, of<&F::rank>},
    {"rdam_all", "", share, of<&F::rdam_all>, known},
    {"rdam_self", "", share, of<&F::rdam_self>, known},
    {"rdam_flat", "", score, of<&F::rdam_flat>, known},
    {"rdam_all_low", "", share, of<&F::rdam_all_low>, known},
    {"rdam_all_high", "", share, of<&F::rdam_all_high>, known},
    {"rdam_self_low", "", share, of<&F::rdam_self_low>, known},
    {"rdam_self_high", "", share, of<&F::rdam_self_high>, known},
    {"rdam_flat_low", "", score, of<&F::rdam_flat_low>, known},
    {"rdam_flat_high", "", score, of<&F::rdam_flat_high>, known},
    {"rdam_error", "", score, of<&F::rdam_error>},
    {"occurrences", kCalls, count, of<&S::occurrences>, nothing, 1, estimate_or_bound},
    {"occurrences_error", "", score, of<&F::occurrences_error>},
    {"recorded", "", count, of<&F::recorded>},
    {"outermost", "", count, of<&F::outermost>},
    {"unscored", "", count, of<&F::unscored>},
    {"sampled", "", flag, of<&F::sampled>},
    {"windowed", "", flag, of<&F::windowed>},
    {"min_ns", "min", time, of<&S::min_ns>, timed, 5, nullptr, call_time<&S::min_ns>},
    {"median_ns", "median", time, of<&S::median_ns>, timed, 2, nullptr, call_time<&S::median_ns>},
    {"p99_ns", "p99", time, of<&S::p99_ns>, timed, 4, nullptr, call_time<&S::p99_ns>},
    {"max_ns", "", time, of<&S::max_ns>, timed},
    {"mean_ns", "", time, of<&F::mean_ns>, timed},
    {"mean_error_ns", "", time, of<&F::mean_error_ns>, timed},
    {"lost_ns", "lost", time, of<&S::lost_ns>, known},
    {"lost_per_call_ns", "lost/call", time, ratio<&S::lost_ns, &F::outermost>, timed, 7},
    {"lost_error_ns", "", time, of<&F::lost_error_ns>},
    {"open_ns", "", time, of<&F::open_ns>},
    {"lower_bound", "", flag, of<&S::lower_bound>},
    {"minimum_alone", "", flag, of<&S::minimum_alone>},
    {"maybe_recorder", "", flag, of<&S::maybe_recorder>},
    {"scored_sequences", "", count, of<&F::scored_sequences>},
    {"single_sequences", "", count, of<&F::single_sequences>},
    {"affected_threads", "threads", count, affected_of<&F::threads>, nothing, 6, nullptr, affected_threads,
     "how many lost time / how many called it."},
};

constexpr Field<Life> kLife[] = {
    {"", "thread", count, nullptr, nothing, 0, nullptr, thread_number},
    {"", "name", name},
    {"life_ns", "life", time, life_ns},
    {"running", "running", share, share_of_life<running_ns>, nothing, 0, nullptr,
     life_share_text<running_ns>},
    {"waiting", "waiting", share, share_of_life<waiting_ns>, nothing, 0, nullptr,
     life_share_text<waiting_ns>},
    {"preempted", "preempted", share, share_of_life<preempted_ns>, nothing, 0, nullptr,
     life_share_text<preempted_ns>},
    {"by_others", "by others", share, share_of_life<by_others_ns>, nothing, 3, nullptr,
     life_share_text<by_others_ns>},
    {"by_program", "by program", share, share_of_life<by_program_ns>, nothing, 3, nullptr,
     life_share_text<by_program_ns>},
    {"by_recorder", "by recorder", share, share_of_life<by_recorder_ns>, nothing, 3, nullptr,
     life_share_text<by_recorder_ns>},
    {"recorded", "recorded", share, most_recorded, nothing, 1, nullptr, recorded_text},
    {"waits_for", "waits most for", text, nullptr, nothing, 0, nullptr, waits_for},
    {"events", "events", count, life_events, nothing, 2, nullptr, events_text},
};

constexpr Field<ThreadPart> kThread[] = {
    {"rdam", "score", score, of<&S::rdam>, known},
    {"rdam_low", "95 %", score, of<&S::rdam_low>, known, 0, nullptr, interval},
    {"rdam_high", "", score, of<&S::rdam_high>, known},
    {"", "thread", count, nullptr, nothing, 0, nullptr, thread_number},
    {"", "name", name},
    {"occurrences", kCalls, count, of<&S::occurrences>, nothing, 0, estimate},
    {"lost_ns", "lost", time, of<&S::lost_ns>, known},
};

constexpr Field<SequenceRow> kSequence[] = {
    {"rdam", "score", score, of<&S::rdam>, known},
    {"rdam_low", "95 %", score, of<&S::rdam_low>, known, 0, nullptr, interval},
    {"rdam_high", "", score, of<&S::rdam_high>, known},
    {"", "sequence", name},
    {"occurrences", kCalls, count, of<&S::occurrences>, nothing, 0, estimate},
    {"min_ns", "min", time, of<&S::min_ns>, nothing, 0, nullptr, call_time<&S::min_ns>},
    {"median_ns", "median", time, of<&S::median_ns>, nothing, 0, nullptr, call_time<&S::median_ns>},
    {"p99_ns", "p99", time, of<&S::p99_ns>, nothing, 0, nullptr, call_time<&S::p99_ns>},
    {"max_ns", "", time, of<&S::max_ns>},
    {"lost_ns", "lost", time, of<&S::lost_ns>, known},
};

constexpr Field<ThreadPattern> kPattern[] = {
    {"rdam", "score", score, of<&S::rdam>, nothing, 0, marked},
    {"rdam_low", "95 %", score, of<&S::rdam_low>, nothing, 0, nullptr, interval},
    {"rdam_high", "", score, of<&S::rdam_high>},
    {"", "thread", count, nullptr, nothing, 0, nullptr, thread_number},
    {"", "pattern", name},
    {"occurrences", "occurrences", count, of<&S::occurrences>},
    {"min_ns", "min", time, of<&S::min_ns>, nothing, 0, nullptr, call_time<&S::min_ns>},
    {"median_ns", "median", time, of<&S::median_ns>, nothing, 0, nullptr, call_time<&S::median_ns>},
    {"lost_ns", "lost", time, of<&S::lost_ns>},
    {"lower_bound", "", flag, of<&S::lower_bound>},
    {"minimum_alone", "", flag, of<&S::minimum_alone>},
};

constexpr Field<O> kOverall[] = {
    {"rdam", "score", score, of<&S::rdam>, known, 0, marked},
    {"rdam_low", "95 %", score, of<&S::rdam_low>, known, 0, nullptr, interval},
    {"rdam_high", "", score, of<&S::rdam_high>, known},
    {"", "function", name},
    {"floor", "", score, of<&S::floor>},
    {"rank", "", count, of<&O::rank>},
    {"occurrences", kCalls, count, of<&S::occurrences>, nothing, 1, estimate_or_bound},
    {"sampled", "", flag, of<&O::sampled>},
    {"lost_ns", "lost", time, of<&S::lost_ns>, known},
    {"rdam_all", "of all time", share, of<&O::rdam_all>, known, 4, nullptr, nullptr,
     "lost time / the lives of all threads."},
    {"rdam_self", "", share, of<&O::rdam_self>, known},
    {"lower_bound", "", flag, of<&S::lower_bound>},
    {"minimum_alone", "", flag, of<&S::minimum_alone>},
    {"affected_processes", "processes", count, affected_of<&O::processes>, nothing, 3, nullptr,
     affected_processes, "how many lost time / how many called it."},
};

constexpr Field<ProcessShare> kProcess[] = {
    {"rdam", "", score, of<&S::rdam>, known},           {"rdam_low", "", score, of<&S::rdam_low>, known},
    {"rdam_high", "", score, of<&S::rdam_high>, known}, {"occurrences", "", count, of<&S::occurrences>},
    {"median_ns", "", time, of<&S::median_ns>},         {"lost_ns", "", time, of<&S::lost_ns>, known},
};

constexpr Field<F> kCompared[] = {
    {"rdam", "score", score, of<&S::rdam>, known, 0, nullptr, score_and_interval},
    {"rdam_all", "lost", share, of<&F::rdam_all>, known, 0, nullptr, nullptr,
     "the share of all threads' lives that was lost in the function."},
    {"lost_per_call_ns", "lost/call", time, ratio<&S::lost_ns, &F::outermost>, timed},
    {"median_ns", "median", time, of<&S::median_ns>, timed, 1, nullptr, call_time<&S::median_ns>},
    {"occurrences", kCalls, count, of<&S::occurrences>, nothing, 0, estimate_or_bound},
};

}  // namespace tables

template <class Part>
std::string affected_text(const std::vector<Part>& parts) {
    const auto unknown = static_cast<std::size_t>(std::ranges::count_if(parts, &Part::unknown));
    const std::size_t lost = affected(parts);
    if (unknown > 0 && unknown == parts.size()) return fmt::format("-/{}", parts.size());
    if (unknown == 0) return fmt::format("{}/{}", lost, parts.size());
    return fmt::format("{}–{}/{}", lost, lost + unknown, parts.size());
}

}  // namespace

Life life_of(const hints::Analysis& analysis, std::size_t thread) {
    const auto& waits = analysis.waits.of_threads;
    return {.thread = analysis.report.threads[thread],
            .states_known = states_known(analysis.report),
            .wait = thread < waits.size() && waits[thread].share > 0 ? &waits[thread] : nullptr};
}

namespace {

bool some_states_known(const score::Report& report) {
    return states_known(report) && std::ranges::any_of(report.threads, [](const score::ThreadRow& row) {
               return row.off_cpu.has_value();
           });
}
bool some_waits_known(const hints::Analysis& analysis) {
    return std::ranges::any_of(analysis.waits.of_threads, &hints::ThreadWait::is_worth_saying);
}

}  // namespace

bool lives_known(const hints::Analysis& analysis) {
    return some_states_known(analysis.report) || some_waits_known(analysis);
}

std::vector<Field<Life>> life_fields(const hints::Analysis& analysis) {
    const bool states = some_states_known(analysis.report), waits = some_waits_known(analysis);
    const bool recorded = std::ranges::any_of(
        analysis.report.threads, [](const score::ThreadRow& row) { return row.recorded_high > 0; });
    const auto is_known = [&](const Field<Life>& field) {
        if (field.key == "recorded") return recorded;
        if (field.unit == Unit::share) return states;
        return field.key != "waits_for" || waits;
    };
    std::vector<Field<Life>> fields;
    for (const Field<Life>& field : tables::kLife)
        if (is_known(field)) fields.push_back(field);
    return fields;
}

std::vector<std::size_t> threads_to_look_at(const hints::Analysis& analysis) {
    std::vector<std::size_t> order(analysis.report.threads.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t thread) {
        const Life life = life_of(analysis, thread);
        return std::pair{life.wait != nullptr ? life.wait->share : 0, share_of_life<running_ns>(life)};
    });
    return order;
}

Fields<FunctionRow> function_fields() {
    return tables::kFunction;
}
Fields<ThreadPart> thread_fields() {
    return tables::kThread;
}
Fields<SequenceRow> sequence_fields() {
    return tables::kSequence;
}
Fields<ThreadPattern> pattern_fields() {
    return tables::kPattern;
}
Fields<OverallFunction> overall_fields() {
    return tables::kOverall;
}
Fields<ProcessShare> process_fields() {
    return tables::kProcess;
}
Fields<FunctionRow> compared_fields() {
    return tables::kCompared;
}

std::string tid_text(const score::ThreadRow& row) {
    return row.fiber != 0 ? "-" : fmt::format("{}", row.tid);
}

std::string figure_text(Unit unit, double value) {
    switch (unit) {
        case Unit::score:
            return score_text(value);
        case Unit::share:
            return percent(value);
        case Unit::time:
            return human_time(value);
        case Unit::count:
            return grouped(static_cast<std::uint64_t>(value));
        case Unit::name:
        case Unit::flag:
        case Unit::text:
            break;
    }
    return {};
}

std::string call_time_text(const score::Scored& row, double nanoseconds) {
    if (!(nanoseconds < row.resolution_ns)) return human_time(nanoseconds);
    // `10 ns`, not `10.0 ns`.
    std::string bound = human_time(row.resolution_ns);
    const std::size_t unit = bound.find(' '), point = bound.find('.');
    if (point < unit && bound.find_first_not_of('0', point + 1) == unit) bound.erase(point, unit - point);
    return "<" + bound;
}

std::string score_mark(const score::Scored& row) {
    if (row.maybe_recorder) return "?";
    // A score that rests on a lone fast call is no bound.
    if (row.minimum_alone) return kAloneMark;
    if (row.lower_bound) return kBoundMark;
    return score::at_floor(row) ? kFloorMark : "";
}

std::string occurrences_text(const FunctionRow& row) {
    return estimate_or_bound(row) + grouped(row.occurrences);
}

std::optional<double> share_of_lone_caller(const FunctionRow& row, double explains) {
    constexpr double kNearlyAll = 0.9, kLittle = 0.1;
    const auto most = std::ranges::max_element(row.callers, {}, &score::CallerRow::share);
    if (most == row.callers.end() || most->share < kNearlyAll || explains > kLittle) return std::nullopt;
    return most->share;
}

std::string affected_threads(const FunctionRow& row) {
    return row.unknown() ? fmt::format("-/{}", row.threads.size()) : affected_text(row.threads);
}

std::string affected_processes(const OverallFunction& row) {
    return affected_text(row.processes);
}

}  // namespace rdam::output
