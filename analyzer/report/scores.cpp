#include "analyzer/report/scores.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "analyzer/report/places.h"
#include "analyzer/report/ranking.h"
#include "analyzer/report/windowed_part.h"
#include "analyzer/sequences/sequence_names.h"
#include "tools/base/in_parallel.h"
#include "tools/trace/clock.h"
#include "wrappers/plan/planner.h"

namespace rdam::score {
namespace {

struct Life {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t length() const { return end - begin; }
};

// A thread's events can lie a little outside its start and end events (destructors, signal handlers): they
// are part of its life, or a score could exceed 1.
Life life_of(const trace::ThreadInfo& thread, const calls::MatchCounts& counts) {
    const bool has_events = counts.first <= counts.last;
    const std::uint64_t begin = thread.start != 0 ? thread.start : counts.first;
    const std::uint64_t end = thread.end != 0 ? thread.end : counts.last;
    if (!has_events) return thread.start != 0 && end > begin ? Life{begin, end} : Life{};
    return {std::min(begin, counts.first), std::max({begin, end, counts.last})};
}

void add_counts(calls::MatchCounts& sum, const calls::MatchCounts& counts) {
    sum.calls += counts.calls;
    sum.probes += counts.probes;
    sum.abandoned_by_jump += counts.abandoned_by_jump;
    sum.abandoned_at_end += counts.abandoned_at_end;
    sum.abandoned_at_gap += counts.abandoned_at_gap;
    sum.abandoned_too_deep += counts.abandoned_too_deep;
    sum.unmatched_leaves += counts.unmatched_leaves;
    sum.stray_tail_enters += counts.stray_tail_enters;
    sum.inside_unended += counts.inside_unended;
    sum.bad_clock += counts.bad_clock;
    sum.bad_pauses += counts.bad_pauses;
    sum.paused += counts.paused;
    sum.waited += counts.waited;
    sum.by_recorder += counts.by_recorder;
    sum.crowded += counts.crowded;
    sum.first = std::min(sum.first, counts.first);
    sum.last = std::max(sum.last, counts.last);
}

Lives measure_lives(const trace::TraceInfo& info, std::span<const std::unique_ptr<ThreadTimes>> threads) {
    Lives lives;
    Life run{UINT64_MAX, 0};
    for (std::size_t t = 0; t < threads.size(); ++t) {
        const Life life = life_of(info.threads[t], threads[t]->counts);
        const std::uint64_t paused = std::min(threads[t]->counts.paused, life.length());
        lives.spans.push_back({life.begin, life.end});
        lives.whole.push_back(life.length());
        lives.lengths.push_back(life.length() - paused);
        lives.all += static_cast<double>(lives.lengths.back());
        if (life.end == 0) continue;
        run = {std::min(run.begin, life.begin), std::max(run.end, life.end)};
    }
    lives.begin = run.begin;
    lives.end = std::max(run.begin, run.end);
    lives.run = run.end > run.begin ? static_cast<double>(run.length()) : 0;
    for (const std::uint64_t length : lives.whole) {
        lives.short_lived.push_back(static_cast<double>(length) < kShortLife * lives.run);
    }
    return lives;
}

double flow_cost(const trace::TraceInfo& info, const ResolvedSettings& settings) {
    return std::max(info.clock.flow_ticks, settings.cost.total);
}

WindowEstimate estimate_windows(const trace::TraceInfo& info, std::uint32_t function,
                                const ResolvedSettings& settings, const trace::ThreadInfo& thread,
                                trace::TickRange life, const ThreadTimes& times, bool knows_waits) {
    const trace::FunctionInfo& about = info.functions[function];
    const WindowedCalls& recorded = times.windowed_calls(function);
    auto counted = counted_calls(about, function, thread, life, times.sampling_windows, recorded.before);
    // No window says more than what was counted in the smaller part of the thread's life: there may be as many calls again.
    if (const auto reported = reported_calls(about, function, thread);
        !counted && recorded.inside == 0 && reported.value_or(0) > recorded.before)
        counted = CountedCalls{.calls = static_cast<double>(*reported),
                               .error = static_cast<double>(*reported - recorded.before)};
    if (!counted) return WindowEstimate::by_time(times.sampling_windows, life, about);
    const double probe = settings.cost.total > 0 ? flow_cost(info, settings) / settings.cost.total : 1;
    auto estimate = WindowEstimate::by_calls(times.sampling_windows, life, about, recorded, *counted, probe);
    if (knows_waits) estimate.know_waits(recorded.clusters.sums().size());
    return estimate;
}

std::vector<std::vector<WindowEstimate>> estimate_windows(
    const trace::TraceInfo& info, const ResolvedSettings& settings, const Lives& lives,
    std::span<const std::unique_ptr<ThreadTimes>> threads, const InnerTimes& inner) {
    std::vector<std::vector<WindowEstimate>> estimates(info.functions.size());
    for (std::uint32_t f = 0; f < info.functions.size(); ++f) {
        if (info.functions[f].windowed_since == 0) continue;
        for (std::size_t t = 0; t < threads.size(); ++t)
            estimates[f].push_back(estimate_windows(info, f, settings, info.threads[t], lives.spans[t],
                                                    *threads[t],
                                                    settings.has_waits(f) || inner.of(f, t) != nullptr));
    }
    return estimates;
}

std::optional<OffCpuRow> off_cpu_row(const std::optional<OffCpuTimes>& times, double ns_per_tick) {
    if (!times) return {};
    return OffCpuRow{.blocked_ns = static_cast<double>(times->blocked) * ns_per_tick,
                     .preempted_ns = static_cast<double>(times->preempted) * ns_per_tick,
                     .recorder_ns = static_cast<double>(times->recorder) * ns_per_tick,
                     .crowded_ns = static_cast<double>(times->crowded) * ns_per_tick,
                     .switches = times->switches,
                     .preemptions = times->preemptions};
}

void describe_threads(const TraceFacts& facts, const Lives& lives, double ns_per_tick,
                      std::span<const std::unique_ptr<ThreadTimes>> threads, Report& report) {
    for (std::size_t t = 0; t < threads.size(); ++t) {
        const trace::ThreadInfo& info = facts.info.threads[t];
        const ThreadTimes& analysis = *threads[t];
        report.threads.push_back({.number = static_cast<std::uint32_t>(t),
                                  .tid = info.tid,
                                  .name = info.name,
                                  .duration_ns = static_cast<double>(lives.whole[t]) * ns_per_tick,
                                  .paused_ns = static_cast<double>(analysis.counts.held()) * ns_per_tick,
                                  .crowded_ns = static_cast<double>(analysis.counts.crowded) * ns_per_tick,
                                  .events = analysis.events,
                                  .calls = analysis.counts.calls,
                                  .dropped = info.dropped,
                                  .unwritten = info.unwritten,
                                  .short_lived = lives.short_lived[t],
                                  .fiber = info.fiber,
                                  .off_cpu = off_cpu_row(analysis.off_cpu, ns_per_tick)});
        report.events += analysis.events;
        report.unwritten += info.unwritten;
        report.too_long += analysis.too_long;
        add_counts(report.counts, analysis.counts);
    }
}

/// Blocked time does not depend on which threads have the processors.
double time_wanting(const OffCpuTimes& off, double life) {
    return std::max(life - static_cast<double>(off.blocked), 0.0);
}

double stretch(const OffCpuTimes& off, double life) {
    const auto waiting = static_cast<double>(off.preempted + off.crowded);
    const double on = time_wanting(off, life) - waiting - static_cast<double>(off.recorder);
    return on > 0 ? 1 + waiting / on : 1;
}

/// Packing a call takes a third of its probe. If off-CPU times are not known, any longer part of pauses
/// counts as off-CPU.
ThreadCost thread_cost(const ThreadTimes& thread, std::uint64_t life, bool off_cpu_known, double ns_per_probe,
                       double ns_per_absence, double ns_per_tick) {
    constexpr double kMaxOfProbes = 0.5;
    const calls::MatchCounts& counts = thread.counts;
    const auto nanoseconds = [&](std::uint64_t ticks) { return static_cast<double>(ticks) * ns_per_tick; };
    const std::uint64_t pauses = counts.held() - counts.waited - counts.by_recorder;
    ThreadCost cost{.probes_ns = static_cast<double>(counts.probes) * ns_per_probe,
                    .pauses_ns = nanoseconds(pauses),
                    .waits_ns = nanoseconds(counts.waited),
                    .agent_ns = nanoseconds(counts.by_recorder)};
    if (thread.off_cpu) cost.switches_ns = ns_per_absence * static_cast<double>(thread.off_cpu->switches);
    if (off_cpu_known && thread.off_cpu) {
        cost.pauses_ns = nanoseconds(pauses - std::min(pauses, thread.off_cpu->in_pauses));
        cost.agent_ns = nanoseconds(thread.off_cpu->recorder);
        cost.stretch = stretch(*thread.off_cpu, static_cast<double>(life));
    } else {
        cost.pauses_ns = std::min(cost.pauses_ns, kMaxOfProbes * cost.probes_ns);
    }
    return cost;
}

/// Ticks.
/// Of functions whose calls are counted, those that were not recorded.
double calls_behind_gates(const trace::ThreadInfo& thread, const ThreadTimes& times) {
    std::uint64_t counted = 0;
    for (const trace::CallCount& each : thread.calls)
        counted += each.calls;
    return static_cast<double>(counted - std::min(counted, times.counts.calls));
}

/// What microbench/probe-cost finds for a closed gate that counts.
constexpr double kGateNs = 1.1;

/// What it takes to record that a thread was off its processor, on average; nanoseconds.
double absence_cost(const trace::TraceInfo& info, std::span<const std::unique_ptr<ThreadTimes>> threads) {
    double absences = 0;
    for (const auto& thread : threads)
        if (thread->off_cpu) absences += static_cast<double>(thread->off_cpu->switches);
    const auto handed_over = static_cast<double>(info.switches.handed_over);
    return static_cast<double>(trace::SwitchInfo::kRecordNs) *
           (2 - std::min(handed_over / std::max(absences, 1.0), 1.0));
}

std::vector<ThreadCost> thread_costs(const trace::TraceInfo& info, const Lives& lives,
                                     std::span<const std::unique_ptr<ThreadTimes>> threads,
                                     const ResolvedSettings& settings, double ns_per_tick) {
    const bool known = info.switches.state == trace::SwitchInfo::State::recorded;
    const double ns_per_absence = absence_cost(info, threads);
    std::vector<ThreadCost> costs;
    for (std::size_t t = 0; t < threads.size(); ++t) {
        costs.push_back(thread_cost(*threads[t], lives.whole[t], known,
                                    flow_cost(info, settings) * ns_per_tick, ns_per_absence, ns_per_tick));
        costs.back().gates_ns = kGateNs * calls_behind_gates(info.threads[t], *threads[t]);
    }
    return costs;
}

/// How many threads on average were on processors, or waited for one. The number of processors if context
/// switches do not show it.
double at_a_time(const trace::TraceInfo& info, const Lives& lives,
                 std::span<const std::unique_ptr<ThreadTimes>> threads) {
    const double processors = info.process.processors;
    if (info.switches.state != trace::SwitchInfo::State::recorded || lives.run <= 0) return processors;
    double wanting = 0;
    for (std::size_t t = 0; t < threads.size(); ++t) {
        if (!threads[t]->off_cpu) return processors;
        // A fiber has no life of its own: it is in those of the threads that run it.
        const double life = info.threads[t].fiber == 0 ? static_cast<double>(lives.whole[t]) : 0;
        wanting += life - static_cast<double>(threads[t]->off_cpu->blocked);
    }
    return std::max(wanting / lives.run, 1.0);
}

/// If it is known which threads had the processors, the time that the agent took has been excluded. The work
/// is that of one thread of it (the others wake up for moments): in a part of the run it cannot have run for
/// longer than that part lasts.
void describe_agent(const trace::TraceInfo& info, Report& report) {
    constexpr double kSecond = 1e9;
    report.agent = info.agent;
    const bool known = info.switches.state == trace::SwitchInfo::State::recorded;
    if (info.agent.told && !known)
        report.agent_bound_ns = std::min(info.agent.running_cpu_seconds * kSecond, report.duration_ns);
}

void describe_run(const TraceFacts& facts, const ResolvedSettings& settings, const Lives& lives,
                  double ns_per_tick, const RecordingCost& cost, Report& report) {
    report.process = facts.info.process;
    report.switches = facts.info.switches;
    report.counters = facts.info.counters;
    if (const std::uint64_t until = report.switches.until, begin = facts.run_begin.value_or(lives.begin);
        until > begin)
        report.switches_until_ns = static_cast<double>(until - begin) * ns_per_tick;
    const std::vector<std::uint64_t>& missing = report.switches.missing;
    for (std::size_t i = 0; i + 1 < missing.size(); i += 2) {
        const std::uint64_t from = std::max(missing[i], lives.begin);
        const std::uint64_t to = std::min(missing[i + 1], lives.end);
        if (from < to) report.switches_missing_ns += static_cast<double>(to - from) * ns_per_tick;
    }
    report.start_unix_ns = static_cast<double>(facts.info.clock.start_unix_ns);
    report.duration_ns = lives.run * ns_per_tick;
    report.threads_ns = lives.all * ns_per_tick;
    report.dropped = facts.info.dropped;
    report.probe_cost_ns = settings.cost.total * ns_per_tick;
    report.flow_cost_ns = flow_cost(facts.info, settings) * ns_per_tick;
    report.clock = facts.info.clock.source;
    report.clock_step_ns = static_cast<double>(settings.baseline.step) * ns_per_tick;
    report.clock_error_ns = facts.info.clock.error_ticks * ns_per_tick;
    const double probes = static_cast<double>(report.counts.probes) * settings.cost.total;
    report.perturbation =
        lives.all > 0 ? (probes + static_cast<double>(report.counts.held())) / lives.all : 0;
    report.paused_ns = static_cast<double>(report.counts.held()) * ns_per_tick;
    report.agent_ns = static_cast<double>(report.counts.by_recorder) * ns_per_tick;
    report.crowded_ns = static_cast<double>(report.counts.crowded) * ns_per_tick;
    report.cost = cost;
    describe_agent(facts.info, report);
    report.damage = facts.damage;
    report.remarks = facts.info.remarks;
    for (const trace::AnswerInfo& answer : facts.info.answers) {
        if (static_cast<ListVerdict>(answer.verdict) != ListVerdict::wrapped)
            report.refused.push_back(answer);
    }
}

void doubt(const Report& report, FunctionRow& row) {
    row.maybe_recorder = row.lost_ns > 0 && row.lost_ns <= report.agent_bound_ns;
}

}  // namespace

std::string qualified_name(const std::string& module, const std::string& name) {
    return module.empty() ? name : module + ":" + name;
}

Scores::Scores(const TraceFacts& facts, const ResolvedSettings& settings,
               std::span<const std::unique_ptr<ThreadTimes>> threads, std::size_t max_sequences)
    : facts_(facts),
      settings_(settings),
      threads_(threads),
      ns_per_tick_(trace::nanoseconds_per_tick(facts.info.clock)),
      lives_(measure_lives(facts.info, threads)),
      merged_(facts.info.functions.size(), threads),
      inner_times_(facts.info, settings, threads, merged_, lives_.spans),
      estimates_(estimate_windows(facts.info, settings, lives_, threads, inner_times_)),
      ids_(sequences::lasting_ids(merged_.store(), facts.info, settings.keys)),
      context_{.info = facts_.info,
               .settings = settings_,
               .threads = threads_,
               .merged = merged_,
               .ids = ids_,
               .lives = lives_.lengths,
               .spans = lives_.spans,
               .short_lived = lives_.short_lived,
               .estimates = estimates_,
               .inner_times = inner_times_,
               .all_lives = lives_.all,
               .ns_per_tick = ns_per_tick_,
               .run_begin = facts_.run_begin.value_or(lives_.begin),
               .max_sequences = max_sequences,
               .shown = shown_names(facts_.info.functions)} {
    count_stacks(context_);
}

Report Scores::without_rows() const {
    Report report;
    report.threshold = settings_.threshold;
    report.comparison = settings_.comparison;
    report.begin = context_.run_begin;
    report.names = context_.shown;
    describe_threads(facts_, lives_, ns_per_tick_, threads_, report);
    RecordingCost cost;
    // What another tool costs is not known.
    if (facts_.info.process.recorder.empty()) {
        cost = recording_cost(thread_costs(facts_.info, lives_, threads_, settings_, ns_per_tick_),
                              lives_.run * ns_per_tick_, at_a_time(facts_.info, lives_, threads_));
        cost.idle_machine = facts_.info.switches.state != trace::SwitchInfo::State::recorded;
    }
    describe_run(facts_, settings_, lives_, ns_per_tick_, cost, report);
    return report;
}

/// By function.
std::vector<FunctionRow> Scores::make_rows(bool samples, unsigned jobs) const {
    std::vector<FunctionRow> rows(facts_.info.functions.size());
    in_parallel(rows.size(), jobs, [&](std::size_t f) {
        rows[f] = make_function_row(context_, static_cast<std::uint32_t>(f));
        const bool asked_for = f < settings_.asked_for.size() && settings_.asked_for[f];
        if (samples && rows[f].occurrences > 0 && (asked_for || rows[f].rdam >= settings_.threshold))
            add_sample(context_, rows[f]);
    });
    if (samples) add_largest_samples(rows);
    return rows;
}

/// Of those that lost most, whatever they score.
void Scores::add_largest_samples(std::vector<FunctionRow>& rows) const {
    std::vector<FunctionRow*> order;
    for (FunctionRow& row : rows)
        if (row.occurrences > 0 && says_something(row)) order.push_back(&row);
    std::ranges::stable_sort(
        order, [](const FunctionRow* a, const FunctionRow* b) { return a->lost_ns > b->lost_ns; });
    if (order.size() > settings_.largest_sampled) order.resize(settings_.largest_sampled);
    for (FunctionRow* row : order)
        if (row->sample.calls.empty()) add_sample(context_, *row);
}

void Scores::add_places(const std::vector<FunctionRow>& rows, unsigned jobs, Report& report) const {
    if (settings_.max_paths > 0) {
        PathMaker maker{context_};
        in_parallel(rows.size(), jobs, [&](std::size_t f) { maker.add(rows[f]); });
        report.paths = maker.tree();
    }
    if (settings_.max_course > 0) {
        const CourseMaker maker{context_};
        std::vector<std::vector<CourseCell>> cells(rows.size());
        in_parallel(rows.size(), jobs, [&](std::size_t f) { cells[f] = maker.cells(rows[f]); });
        std::vector<CourseCell> all;
        for (const std::vector<CourseCell>& of_function : cells)
            all.insert(all.end(), of_function.begin(), of_function.end());
        report.course = maker.course(std::move(all));
    }
}

/// How much of each thread's life is in recorded calls.
void Scores::add_recorded(const std::vector<FunctionRow>& rows, Report& report) const {
    for (const FunctionRow& row : rows)
        for (const ThreadShare& part : row.threads) {
            ThreadRow& thread = report.threads[part.thread];
            const double life = static_cast<double>(lives_.lengths[part.thread]) * ns_per_tick_;
            thread.recorded_low = std::max(thread.recorded_low, share(part.time_ns, life));
            thread.recorded_high = std::min(thread.recorded_high + share(part.most_time_ns, life), 1.0);
        }
    for (ThreadRow& thread : report.threads)
        if (thread.dropped > 0) thread.recorded_high = 1;
}

Report Scores::report(std::size_t max_patterns, bool samples, unsigned jobs) const {
    Report report = without_rows();
    std::vector<FunctionRow> rows = make_rows(samples, jobs);
    add_places(rows, jobs, report);
    add_recorded(rows, report);
    for (std::uint32_t f = 0; f < rows.size(); ++f) {
        FunctionRow& row = rows[f];
        doubt(report, row);
        const trace::FunctionInfo& function = facts_.info.functions[f];
        // Of a partner whose calls cost too much, none is recorded from then on: it says nothing any more.
        if (function.partner && function.windowed_since != 0) {
            report.costly_partners.push_back(qualified_name(function.module, function.name));
            continue;
        }
        if (row.occurrences > 0) {
            report.functions.push_back(std::move(row));
        } else if (!settings_.ignored[f] && !settings_.is_wait(f) && !function.partner) {
            report.never_called.push_back(qualified_name(function.module, function.name));
        }
    }
    // Several functions may have the same name: a name with calls in the report is not one without calls.
    std::unordered_set<std::string> called;
    if (!report.never_called.empty())
        for (const FunctionRow& row : report.functions)
            called.insert(qualified_name(row.module, row.name));
    std::erase_if(report.never_called, [&](const std::string& name) { return called.contains(name); });
    std::ranges::sort(report.functions, [](const FunctionRow& a, const FunctionRow& b) {
        return std::tie(b.rdam, b.lost_ns, a.name, a.module, a.function) <
               std::tie(a.rdam, a.lost_ns, b.name, b.module, b.function);
    });
    rank(report.functions);
    add_timelines(context_, report);
    if (settings_.patterns) add_pattern_rows(context_, max_patterns, report);
    return report;
}

Report Scores::report_on(std::uint32_t function) const {
    Report report = without_rows();
    FunctionRow row = make_function_row(context_, function);
    doubt(report, row);
    if (row.occurrences == 0) return report;
    add_sample(context_, row);
    report.functions.push_back(std::move(row));
    add_timelines(context_, report);
    return report;
}

Distribution Scores::durations(std::uint32_t function) const {
    Distribution all;
    merged_.for_each_group(function, [&](sequences::GroupId /*group*/, std::span<const ThreadGroup> parts) {
        for (const ThreadGroup& part : parts) {
            const PartCalls calls{part, context_.estimate(function, part.thread), PartCalls::Which::outermost,
                                  context_.settings.baseline.step};
            all.merge(calls.own());
            all.merge(calls.sample());
        }
    });
    return all;
}

Report make_report(const TraceFacts& facts, const ResolvedSettings& settings,
                   std::span<const std::unique_ptr<ThreadTimes>> threads, std::size_t max_sequences,
                   std::size_t max_patterns, unsigned jobs) {
    return Scores{facts, settings, threads, max_sequences}.report(max_patterns, true, jobs);
}

namespace {

/// By how much the costs may be different from what was measured at the start: a processor does much of a
/// probe beside the work around it where that leaves it room, and waits for more where caches are full. A
/// closed gate is a few instructions, of which most programs feel a quarter to six tenths (docs/field.md: how
/// much longer they took, beside the ranges); in a loop that calls a function of a nanosecond, all is felt.
struct Factors {
    double probes = 1;
    double gates = 1;
    double rest = 1;
};
constexpr Factors kLeast{.probes = 0.6, .gates = 0.25, .rest = 0.7};
constexpr Factors kMost{.probes = 1.6, .gates = 0.58, .rest = 1.3};
constexpr double kAllGates = 1.2;
/// … from where gates would take this part of the run on, and where they would take that, all of them are.
constexpr double kSomeGates = 0.4, kManyGates = 0.8;
/// … and what no counter of events shows: other addresses of code and data, caches that the recorder uses,
/// which has nothing to do with how wrong the costs above are;
constexpr double kUnseen = 0.08;
/// … the start and the end of `rdam record`, up to a part of a short run.
constexpr double kStartNs = 35e6;
constexpr double kMaxStart = 0.2;

Factors most_of(const std::vector<ThreadCost>& threads, double duration_ns) {
    double gates_ns = 0;
    for (const ThreadCost& thread : threads)
        gates_ns = std::max(gates_ns, thread.gates_ns);
    const double part = duration_ns > 0 ? gates_ns / duration_ns : 0;
    Factors factors = kMost;
    factors.gates = std::clamp(
        factors.gates + (kAllGates - factors.gates) * (part - kSomeGates) / (kManyGates - kSomeGates),
        factors.gates, kAllGates);
    return factors;
}

double slowdown(const std::vector<ThreadCost>& threads, double duration_ns, double at_a_time,
                const Factors& factors) {
    double most = 0;
    double work = 0;
    for (const ThreadCost& thread : threads) {
        const double calls = factors.probes * thread.probes_ns + factors.gates * thread.gates_ns;
        const double rest = factors.rest * (thread.pauses_ns + thread.switches_ns);
        const double held = (calls + rest) * thread.stretch + thread.agent_ns;
        work += held;
        most = std::max(most, held + thread.waits_ns);
    }
    // A thread that waits for room leaves its processor to others.
    const double spread = at_a_time > 0 ? work / std::max(at_a_time, 1.0) : 0;
    const double own = std::max(duration_ns - std::max(most, spread), 0.0);
    if (duration_ns <= 0) return 1;
    return own * kMaxSlowdown > duration_ns ? duration_ns / own : kMaxSlowdown;
}

}  // namespace

RecordingCost recording_cost(const std::vector<ThreadCost>& threads, double duration_ns, double at_a_time) {
    RecordingCost cost;
    for (const ThreadCost& thread : threads) {
        cost.probes_ns += thread.probes_ns;
        cost.gates_ns += thread.gates_ns;
        cost.pauses_ns += thread.pauses_ns;
        cost.waits_ns += thread.waits_ns;
        cost.agent_ns += thread.agent_ns;
        cost.switches_ns += thread.switches_ns;
    }
    cost.slowdown = slowdown(threads, duration_ns, at_a_time, {});
    cost.slowdown_low = slowdown(threads, duration_ns, at_a_time, kLeast);
    if (threads.empty()) {
        cost.slowdown_high = cost.slowdown;
        return cost;
    }
    const double most = slowdown(threads, duration_ns, at_a_time, most_of(threads, duration_ns));
    const double start = std::min(kStartNs / std::max(duration_ns, 1.0), kMaxStart);
    const double half = (most - cost.slowdown_low) / 2;
    cost.slowdown_high = std::min(cost.slowdown_low + half + std::hypot(half, kUnseen) + start, kMaxSlowdown);
    return cost;
}

}  // namespace rdam::score
