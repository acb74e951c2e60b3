#include "analyzer/report/function_row.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analyzer/calls/matcher.h"
#include "analyzer/report/function_sums.h"
#include "analyzer/report/windowed_part.h"
#include "analyzer/sequences/known_functions.h"
#include "analyzer/statistics/as_double.h"
#include "analyzer/statistics/loss.h"
#include "analyzer/statistics/sampling.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::score {
namespace {

/// `typical`: the calls of `all` that were not selected by time.
void fill_times(const RowContext& context, const Distribution& all, const Distribution& typical, double calls,
                FunctionRow& row) {
    row.outermost = rounded(calls);
    row.min_ns = as_double(all.min()) * context.ns_per_tick;
    row.median_ns = as_double(typical.percentile(0.5)) * context.ns_per_tick;
    row.p99_ns = as_double(typical.percentile(0.99)) * context.ns_per_tick;
    row.max_ns = as_double(all.max()) * context.ns_per_tick;
    row.resolution_ns = context.resolution_ns();
    if (context.settings.bars > 0) row.bars = bars_of(typical, context.ns_per_tick, context.settings.bars);
}

void fill_flat(const Baseline& baseline, const FunctionSums& sums, const Least& process, double life,
               FunctionRow& row) {
    Distribution all = sums.flat;
    all.merge(sums.flat_in_windows);
    const Base base = base_of(baseline, all, all.least(), process);
    Loss loss;
    loss.add(sums.flat_in_windows, base);
    loss.multiply(sums.expansion());
    loss.add(sums.flat, base);
    loss.take_unsure(sums.slowed, sums.slowed_most);
    sums.add_known_to(loss);
    loss.scale_variance(sums.dependence);
    loss.add_variance(sums.cluster_variance(base.ticks));
    if (share(loss.lost(), life) < row.rdam_flat) return;
    row.rdam_flat = share(loss.lost(), life);
    row.rdam_flat_low = share(loss.low(), life);
    row.rdam_flat_high = share(loss.high(), life);
}

void fill_times(const FunctionSums& sums, double ns_per_tick, ThreadShare& entry) {
    Distribution all = sums.flat;
    all.merge(sums.flat_in_windows);
    if (all.count() == 0) return;
    const Distribution& typical = sums.flat_in_windows.count() > 0 ? sums.flat_in_windows : all;
    entry.min_ns = as_double(all.min()) * ns_per_tick;
    entry.median_ns = as_double(typical.percentile(0.5)) * ns_per_tick;
    entry.p99_ns = as_double(typical.percentile(0.99)) * ns_per_tick;
    entry.max_ns = as_double(all.max()) * ns_per_tick;
}

/// What is known of the calls that were entered.
struct Entered {
    double calls = 0;
    double variance = 0;
    bool counted = false;  ///< nothing of it is an estimate
    bool few_windows = false;
    bool copied_stacks = false;

    bool unknown() const { return few_windows || copied_stacks; }
};

/// A thread has not spent more than its life in a function, nor lost more. Where an estimate is well beyond
/// that, and even its least is about all of it, what was recorded in windows is not like the rest: in them,
/// the recorder has added to what others wait for, or the processor could not, between two probes, work
/// ahead.
bool is_impossible(const FunctionSums& sums, double life) {
    constexpr double kWellBeyond = 1.25, kAboutAll = 0.9;
    if (sums.estimate == nullptr) return false;
    const auto is_beyond = [&](double time, double variance) {
        return time > kWellBeyond * life && lower_bound(time, variance, kBoundErrors) > kAboutAll * life;
    };
    return is_beyond(sums.loss.lost(), sums.sampling_variance) ||
           is_beyond(sums.time, sums.cluster_variance(0));
}

Entered count_entered(const RowContext& context, std::size_t thread, std::uint32_t function,
                      const FunctionSums& sums) {
    const WindowEstimate* const estimate = sums.estimate;
    const ThreadTimes& times = *context.threads[thread];
    const double of_trees = times.sampling.functions()[function].count;
    const bool copied = calls::ends_are_mixed_up(context.info, function);
    if (estimate == nullptr)
        return {.calls = as_double(times.per_function[function].estimated),
                .variance = of_trees,
                .copied_stacks = copied};
    const WindowedCalls& recorded = times.windowed_calls(function);
    const double variance = estimate->calls_variance(recorded);
    return {.calls = estimate->calls(recorded),
            .variance = estimate->is_counted() ? variance : variance + of_trees,
            .counted = estimate->is_counted() && variance == 0,
            .few_windows = !estimate->enough(recorded.clusters.sums().size()) || sums.is_recursive() ||
                           is_impossible(sums, as_double(context.lives[thread])),
            .copied_stacks = copied};
}

ThreadLoss thread_loss(const FunctionSums& sums, const Entered& entered, double life) {
    ThreadLoss loss{.dependence = sums.dependence, .kept = sums.kept, .unknown = entered.unknown()};
    const bool estimated = sums.estimate != nullptr || sums.sampling_variance > 0;
    if (entered.unknown()) {
        loss.said = 0;
    } else if (estimated && sums.loss.lost() > life) {
        loss.said = life / sums.loss.lost();
    }
    return loss;
}

/// Of all threads it is the highest estimate that counts. Where nothing shows how slow windows are, one long
/// call in a window would stand for many besides.
void set_bounds(const RowContext& context, std::span<const FunctionSums> threads,
                std::vector<ThreadLoss>& losses) {
    std::size_t compared = 0;
    for (std::size_t t = 0; t < threads.size(); ++t)
        if (threads[t].knows_slowing() && !losses[t].unknown && !context.short_lived[t]) ++compared;
    for (std::size_t t = 0; t < threads.size(); ++t)
        if (threads[t].knows_slowing())
            losses[t].bound_errors = std::min(highest_of_normals(compared), kBoundErrors);
}

ThreadShare thread_share(std::size_t thread, const FunctionSums& sums, const Entered& entered,
                         const ThreadLoss& of_thread, double life, double ns_per_tick) {
    const Loss& loss = sums.loss;
    ThreadShare entry;
    entry.thread = thread;
    entry.occurrences = rounded(entered.calls);
    entry.lost_ns = of_thread.said * loss.lost() * ns_per_tick;
    entry.few_windows = entered.few_windows;
    entry.no_score = entered.copied_stacks || sums.outermost <= 0;
    if (entered.unknown()) {
        entry.rdam_high = 1;
        return entry;
    }
    // What is known of all calls is no sample.
    const double least = lower_bound(loss.lost(), sums.sampling_variance, of_thread.bound_errors);
    entry.rdam = share(std::max(least, loss.sure()), life);
    entry.rdam_low = std::min(share(loss.low(), life), entry.rdam);
    entry.rdam_high = share(loss.high(), life);
    return entry;
}

/// The step of the clock, if it is coarse for calls that take `median`; else 0. Ticks.
double coarse_step(const RowContext& context, std::uint64_t median) {
    const double step = as_double(context.settings.baseline.step);
    const bool coarse = step * context.ns_per_tick >= kCoarseStepNs && as_double(median) < kFewSteps * step;
    return coarse ? step : 0;
}

/// Of the call that was still open when the thread ended.
double open_ticks(const RowContext& context, std::size_t thread, std::uint32_t function) {
    const std::uint64_t since = context.threads[thread]->per_function[function].open_since;
    const std::uint64_t end = context.spans[thread].end;
    if (since == 0 || since >= end) return 0;
    return std::min(as_double(end - since), as_double(context.lives[thread]));
}

/// A recorded call takes longer than an unrecorded one, so the estimate is limited: it cannot exceed the life
/// of the thread.
double time_at_most(const FunctionSums& sums, double life) {
    const bool estimated = sums.estimate != nullptr || sums.sampling_variance > 0;
    return estimated ? std::min(sums.time, life) : sums.time;
}

/// `open`: of the call that was still open; for `held` of its life the thread was held, perhaps in that call.
void fill_times_inside(const calls::FunctionCounts& counts, const FunctionSums& sums, double open,
                       double held, double life, double ns_per_tick, ThreadShare& entry) {
    const bool known = !entry.unknown() && counts.bad_clock == 0 && counts.abandoned <= (open > 0 ? 1U : 0U);
    const double ended = entry.unknown() ? 0 : time_at_most(sums, life);
    entry.time_ns = std::min(ended + std::max(open - held, 0.0), life) * ns_per_tick;
    entry.most_time_ns = (known ? std::min(ended + open, life) : life) * ns_per_tick;
}

/// `coarse`: what each call may have lost unseen, ticks.
void fill_thread(const RowContext& context, std::size_t thread, const FunctionSums& sums,
                 const ThreadLoss& loss, const Least& flat, double coarse, FunctionRow& row) {
    const calls::FunctionCounts& counts = context.threads[thread]->per_function[row.function];
    const double life = as_double(context.lives[thread]);
    const Entered entered = count_entered(context, thread, row.function, sums);
    if (counts.calls == 0 && entered.calls <= 0) return;
    ThreadShare entry = thread_share(thread, sums, entered, loss, life, context.ns_per_tick);
    if (!entered.copied_stacks) fill_times(sums, context.ns_per_tick, entry);
    const double whole = open_ticks(context, thread, row.function);
    const trace::TickRange& span = context.spans[thread];
    const double held = as_double(span.end - std::min(span.begin, span.end)) - life;
    fill_times_inside(counts, sums, whole, held, life, context.ns_per_tick, entry);
    // It has lost what it took beyond the fastest, or part of that.
    const double open = std::max(0.0, whole - flat.fastest(0));
    entry.rdam_high = std::min(1.0, entry.rdam_high + share(open + coarse * sums.outermost, life));
    row.open_ns += open * context.ns_per_tick;
    row.few_windows = row.few_windows || entry.few_windows;
    if (!context.short_lived[thread] && !entered.unknown()) {
        row.has_score = true;
        if (entry.rdam >= row.rdam) {
            row.rdam = entry.rdam;
            row.rdam_low = entry.rdam_low;
            row.floor = floor_of(context.info, context.settings.baseline, sums.outermost, sums.time, life);
            row.rdam_high = entry.rdam_high;
            row.minimum_alone = sums.loss.minimum_stands_alone();
            row.rdam_error = life > 0 ? std::sqrt(sums.sampling_variance) / life : 0;
        }
        if (open > 0) row.rdam_high = std::max(row.rdam_high, entry.rdam_high);
        fill_flat(context.settings.baseline, sums, flat, life, row);
    }
    row.occurrences = Distribution::saturating_sum(row.occurrences, entry.occurrences);
    row.recorded += counts.calls;
    row.unscored += counts.abandoned + counts.bad_clock;
    row.threads.push_back(entry);
}

/// Errors of all threads' sums: their trees were drawn independently.
void fill_sampling(const RowContext& context, std::span<const FunctionSums> threads,
                   std::span<const ThreadLoss> losses, FunctionRow& row) {
    const trace::FunctionInfo& info = context.info.functions[row.function];
    row.windowed = info.windowed_since != 0;
    row.counted = row.windowed;
    double count = 0, calls = 0, time = 0, lost_variance = 0, life = 0, covered = 0;
    Spread times;
    for (std::size_t t = 0; t < threads.size(); ++t) {
        const FunctionSampling& sampling = context.threads[t]->sampling.functions()[row.function];
        const Entered entered = count_entered(context, t, row.function, threads[t]);
        count += entered.variance;
        row.counted = row.counted && (entered.counted || context.lives[t] == 0);
        times.add(sampling.times);
        calls += threads[t].outermost;
        time += time_at_most(threads[t], as_double(context.lives[t]));
        if (!losses[t].unknown) lost_variance += threads[t].sampling_variance;
        const auto found = context.threads[t]->waits.find(row.function);
        if (found == context.threads[t]->waits.end()) continue;
        // Of the others the loss is an estimate, in a thread whose calls were not counted.
        const WaitTimes& waits = found->second;
        const bool all = threads[t].waits != nullptr;
        row.waits += waits.complete + (all ? waits.calls : 0);
        row.waited_ns += (waits.complete_time + (all ? waits.time : 0)) * context.ns_per_tick;
    }
    const double mean = calls > 0 ? time / calls : 0;
    double mean_variance = times.variance(mean);
    for (const FunctionSums& sums : threads)
        mean_variance += sums.cluster_variance(mean);
    for (const ThreadShare& part : row.threads) {
        if (threads[part.thread].estimate == nullptr) continue;
        life += as_double(context.lives[part.thread]);
        covered += threads[part.thread].estimate->covered() * as_double(context.lives[part.thread]);
    }
    // It may be that none of the trees that were drawn is in the trace: as if one were.
    if (info.most_rate > 0 && !row.counted)
        count = std::max(count, poisson_factor(std::uint64_t{1} << info.most_rate));
    row.windows_cover = share(covered, life);
    row.sampled = row.windowed || row.occurrences != row.recorded || info.most_rate > 0;
    row.occurrences_error = std::sqrt(count);
    row.lost_error_ns = std::sqrt(lost_variance) * context.ns_per_tick;
    row.mean_ns = row.copied_stacks ? 0 : mean * context.ns_per_tick;
    row.mean_error_ns =
        calls > 0 && !row.copied_stacks ? std::sqrt(mean_variance) / calls * context.ns_per_tick : 0;
    if (info.switched_off != 0)
        row.switched_off_ns = info.switched_off > context.run_begin
                                  ? as_double(info.switched_off - context.run_begin) * context.ns_per_tick
                                  : 0;
}

/// Σ over the threads that are believed.
void fill_off(const RowContext& context, std::span<const FunctionSums> threads,
              std::span<const ThreadLoss> losses, FunctionRow& row) {
    if (!row.counted || context.info.switches.state != trace::SwitchInfo::State::recorded) return;
    OffTime all;
    for (std::size_t t = 0; t < threads.size(); ++t) {
        if (losses[t].unknown || threads[t].estimate == nullptr) continue;
        const OffTime time = threads[t].off_known(context.ns_per_tick);
        all.blocked_ns += losses[t].said * time.blocked_ns;
        all.preempted_ns += losses[t].said * time.preempted_ns;
    }
    row.off_in_windows = all;
}

/// Where no thread has enough windows, or no call was scored, there is no score.
void fill_unknown(bool mixed_up, double calls, FunctionRow& row) {
    row.few_windows = row.few_windows && !row.has_score;
    row.copied_stacks = mixed_up;
    row.no_score = mixed_up || (!row.few_windows && calls <= 0 && !row.threads.empty());
    if (row.unknown()) row.rdam_high = row.rdam_flat_high = 1;
}

}  // namespace

void add_self_least(const GroupTimes& times, SureLeast& least) {
    least.merge(times.self(0).least);  // which is the same with any step
    if (times.windowed() != nullptr) least.merge(times.windowed()->before.self(0).least);
}

SureLeast self_least(const GroupTimes& times) {
    SureLeast least;
    add_self_least(times, least);
    return least;
}

ProcessLeast process_least(std::span<const ThreadGroup> parts) {
    ProcessLeast least{.outermost = process_least(parts, PartCalls::Which::outermost), .self = {}};
    SureLeast self;
    for (const ThreadGroup& part : parts)
        add_self_least(*part.times, self);
    least.self = self.least();
    return least;
}

std::uint64_t rounded(double calls) {
    constexpr double kMax = 1.8e19;
    return static_cast<std::uint64_t>(std::clamp(calls, 0.0, kMax) + 0.5);
}

double share(double lost, double life) {
    return life > 0 ? std::clamp(lost / life, 0.0, 1.0) : 0.0;
}

double lower_bound(double estimate, double variance, double errors) {
    return variance > 0 ? std::max(estimate - errors * std::sqrt(variance), 0.0) : estimate;
}

FunctionRow make_function_row(const RowContext& context, std::uint32_t function) {
    const trace::FunctionInfo& info = context.info.functions[function];
    FunctionRow row;
    row.function = function;
    row.name = info.name;
    row.module = info.module;
    row.shown = context.shown[function];
    row.source = info.source;
    row.partner = info.partner;
    // Nobody adds a line to a system library.
    row.markable = context.info.process.recorder.empty() && row.module.find(".so") == std::string::npos;

    std::vector<FunctionSums> threads(context.threads.size());
    for (std::size_t t = 0; t < threads.size(); ++t)
        threads[t].estimate = context.estimate(function, t);
    Distribution all, in_windows;
    context.merged.for_each_group(
        function, [&](sequences::GroupId /*group*/, std::span<const ThreadGroup> parts) {
            const ProcessLeast process = process_least(parts);
            for (const ThreadGroup& part : parts)
                threads[part.thread].add_group(context.settings.baseline, process, part);
        });
    std::vector<ThreadLoss> losses;
    for (std::size_t t = 0; t < threads.size(); ++t) {
        FunctionSums& sums = threads[t];
        sums.complete(context, function, t);
        losses.push_back(
            thread_loss(sums, count_entered(context, t, function, sums), as_double(context.lives[t])));
        all.merge(sums.flat);
        all.merge(sums.flat_in_windows);
        in_windows.merge(sums.flat_in_windows);
    }
    set_bounds(context, threads, losses);
    const Distribution& typical = in_windows.count() > 0 ? in_windows : all;
    const double coarse = all.count() > 0 ? coarse_step(context, typical.percentile(0.5)) : 0;
    Loss lost, self;
    double time = 0, few_time = 0, calls = 0, lost_of_time = 0;
    double unknown = 0;  // all of these lives may be lost
    for (std::size_t t = 0; t < threads.size(); ++t) {
        fill_thread(context, t, threads[t], losses[t], all.least(), coarse, row);
        lost_of_time += threads[t].loss.lost();
        threads[t].loss.multiply(losses[t].said);
        threads[t].self.multiply(losses[t].said);
        if (losses[t].unknown) unknown += as_double(context.lives[t]);
        lost.add(threads[t].loss);
        self.add(threads[t].self);
        time += threads[t].time;
        few_time += threads[t].few_time;
        calls += threads[t].outermost;
    }
    // Sequences may have baselines that are a step apart, and all calls together then only one of them.
    if (row.rdam_flat < row.rdam) {
        row.rdam_flat = row.rdam;
        row.rdam_flat_low = row.rdam_low;
        row.rdam_flat_high = row.rdam_high;
    }
    const bool mixed_up = calls::ends_are_mixed_up(context.info, function);
    fill_unknown(mixed_up, calls, row);
    if (!mixed_up) fill_times(context, all, typical, calls, row);
    row.lost_ns = lost.lost() * context.ns_per_tick;
    if (calls > 0 && !mixed_up)
        row.baseline_ns = std::max(time - lost_of_time, 0.0) / calls * context.ns_per_tick;
    row.rdam_all = share(lost.lost(), context.all_lives);
    row.rdam_all_low = share(lost.low(), context.all_lives);
    row.rdam_all_high =
        share(lost.high() + unknown + row.open_ns / context.ns_per_tick + coarse * calls, context.all_lives);
    row.rdam_self = share(self.lost(), context.all_lives);
    row.rdam_self_low = share(self.low(), context.all_lives);
    row.rdam_self_high = share(self.high() + unknown, context.all_lives);
    fill_sampling(context, threads, losses, row);
    fill_off(context, threads, losses, row);
    row.few_occurrences = few_time > kFewShare * time;
    row.coarse_clock = coarse > 0;
    row.shortest_missing = context.info.process.shortest_missing && !row.unknown();
    row.lower_bound = row.few_occurrences || row.coarse_clock || row.sampled || row.switched_off_ns ||
                      row.open_ns > 0 || row.shortest_missing;
    std::ranges::stable_sort(row.threads, [](const ThreadShare& a, const ThreadShare& b) {
        return std::tie(b.rdam, b.lost_ns) < std::tie(a.rdam, a.lost_ns);
    });
    row.estimated = row.estimates_occurrences();
    for (ThreadShare& part : row.threads)
        part.estimated = row.estimated;
    add_sequence_rows(context, losses, row);
    add_stack_rows(context, losses, row);
    row.by_design = waits_by_design(context, row);
    return row;
}

namespace {

/// Where the recorder found that it is about this function.
std::string known_reason(const trace::FunctionInfo& function) {
    const CatalogueFunction* const known = sequences::known_wait(function);
    return known != nullptr ? known->by_design : std::string{};
}

/// The reason for the recorded function that contains this return address.
std::string reason_at(const trace::TraceInfo& info, std::uint64_t address) {
    const std::uint32_t function =
        trace::caller_at(info, address, [&](std::uint32_t each) { return info.functions[each].waits; });
    return function != trace::kNoFunction ? known_reason(info.functions[function]) : std::string{};
}

}  // namespace

std::string waits_by_design(const RowContext& context, const FunctionRow& row) {
    constexpr double kNearlyAll = 0.95;
    const trace::FunctionInfo& function = context.info.functions[row.function];
    std::string reason = known_reason(function);
    if (!reason.empty() || !function.waits || row.lost_ns <= 0) return reason;
    std::map<std::string, double> shares;
    for (const CallerRow& caller : row.callers)
        shares[reason_at(context.info, caller.address)] += caller.share;
    double by_design = 0;
    double most = 0;
    for (const auto& [each, share] : shares) {
        if (each.empty()) continue;
        by_design += share;
        if (share > most) reason = each;
        most = std::max(most, share);
    }
    return by_design >= kNearlyAll ? reason : std::string{};
}

std::vector<Bar> bars_of(const Distribution& durations, double ns_per_tick, std::size_t count) {
    std::vector<Bar> bars;
    if (durations.count() == 0) return bars;
    const double low = static_cast<double>(std::max<std::uint64_t>(durations.min(), 1));
    const double high = std::max(static_cast<double>(durations.max()) + 1, low + 1);
    const auto edge = [&](std::size_t i) {
        return low * std::pow(high / low, static_cast<double>(i) / static_cast<double>(count));
    };
    std::uint64_t below = 0;
    for (std::size_t i = 1; i <= count; ++i) {
        const std::uint64_t until =
            i == count ? durations.count()
                       : durations.count_below(static_cast<std::uint64_t>(std::ceil(edge(i))));
        bars.push_back({edge(i - 1) * ns_per_tick, edge(i) * ns_per_tick, until - below});
        below = until;
    }
    return bars;
}

}  // namespace rdam::score
