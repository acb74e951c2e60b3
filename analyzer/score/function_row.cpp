#include "analyzer/score/function_row.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace rdam::score {
namespace {

/// The function in one thread.
struct Sums {
    Loss loss;
    Loss self;
    std::uint64_t time = 0;      ///< Σ of the outermost calls' durations
    std::uint64_t few_time = 0;  ///< those in sequences with few occurrences
    Distribution flat;           ///< all of them
    double sampling_variance = 0;
};

double as_double(std::uint64_t value) {
    return static_cast<double>(value);
}

void add_group(const Baseline& baseline, const ProcessMinima& min, const ThreadGroup& group, Sums& sums) {
    const Distribution& calls = group.times->outermost;
    const bool base_is_minimum = baseline.kind != Baseline::Kind::percentile;
    sums.self.add(group.times->self.loss(baseline, min.self), base_is_minimum);
    if (calls.count() == 0) return;
    const std::uint64_t base = base_of(baseline, calls, min.outermost);
    sums.loss.add(calls, base, base_is_minimum);
    sums.time = Distribution::saturating_sum(sums.time, calls.sum());
    const std::uint64_t unrecorded = group.sampling != nullptr ? group.sampling->outermost.unrecorded : 0;
    if (calls.count() - unrecorded < kFewOccurrences)
        sums.few_time = Distribution::saturating_sum(sums.few_time, calls.sum());
    sums.flat.merge(calls);
    if (group.sampling == nullptr) return;
    const double variance = group.sampling->outermost.variance(as_double(base));
    sums.sampling_variance += variance;
    sums.loss.add_variance(variance);
}

void fill_times(const RowContext& context, const Distribution& all, FunctionRow& row) {
    row.outermost = all.count();
    row.min_ns = as_double(all.min()) * context.ns_per_tick;
    row.median_ns = as_double(all.percentile(0.5)) * context.ns_per_tick;
    row.p99_ns = as_double(all.percentile(0.99)) * context.ns_per_tick;
    row.max_ns = as_double(all.max()) * context.ns_per_tick;
}

void fill_flat(const Baseline& baseline, const Distribution& calls, std::uint64_t least, double life,
               FunctionRow& row) {
    Loss loss;
    loss.add(calls, base_of(baseline, calls, least), baseline.kind != Baseline::Kind::percentile);
    if (share(loss.lost(), life) < row.rdam_flat) return;
    row.rdam_flat = share(loss.lost(), life);
    row.rdam_flat_low = share(loss.low(), life);
    row.rdam_flat_high = share(loss.high(), life);
}

void fill_thread(const RowContext& context, std::size_t thread, const Sums& sums, std::uint64_t flat_min,
                 FunctionRow& row) {
    const calls::FunctionCounts& counts = context.threads[thread]->per_function[row.function];
    if (counts.calls == 0) return;
    const double life = as_double(context.lives[thread]);
    const Loss& loss = sums.loss;
    const ThreadShare entry{.thread = thread,
                            .rdam = share(lower_bound(loss.lost(), sums.sampling_variance), life),
                            .rdam_low = share(loss.low(), life),
                            .rdam_high = share(loss.high(), life),
                            .occurrences = counts.estimated,
                            .lost_ns = loss.lost() * context.ns_per_tick};
    if (!context.short_lived[thread]) {
        if (entry.rdam >= row.rdam) {
            row.rdam = entry.rdam;
            row.rdam_low = entry.rdam_low;
            row.rdam_high = entry.rdam_high;
            row.minimum_alone = loss.minimum_stands_alone();
            row.rdam_error = life > 0 ? std::sqrt(sums.sampling_variance) / life : 0;
        }
        fill_flat(context.settings.baseline, sums.flat, flat_min, life, row);
    }
    row.occurrences += counts.estimated;
    row.recorded += counts.calls;
    row.unscored += counts.abandoned + counts.bad_clock;
    row.threads.push_back(entry);
}

/// Errors of all threads' sums: their trees were drawn independently.
void fill_sampling(const RowContext& context, const Distribution& all, double lost_variance,
                   FunctionRow& row) {
    double count = 0;
    Spread times;
    for (const auto& thread : context.threads) {
        const FunctionSampling& sampling = thread->sampling.functions()[row.function];
        count += sampling.count;
        times.add(sampling.times);
    }
    const double calls = as_double(all.count());
    const double mean = calls > 0 ? as_double(all.sum()) / calls : 0;
    // It may be that none of the trees that were drawn is in the trace: as if one were.
    const std::uint8_t rate = context.info.functions[row.function].most_rate;
    if (rate > 0) count = std::max(count, poisson_factor(std::uint64_t{1} << rate));
    row.sampled = row.occurrences != row.recorded || rate > 0;
    row.occurrences_error = std::sqrt(count);
    row.lost_error_ns = std::sqrt(lost_variance) * context.ns_per_tick;
    row.mean_ns = mean * context.ns_per_tick;
    row.mean_error_ns = calls > 0 ? std::sqrt(times.variance(mean)) / calls * context.ns_per_tick : 0;
    const std::uint64_t off = context.info.functions[row.function].switched_off;
    if (off != 0)
        row.switched_off_ns =
            off > context.run_begin ? as_double(off - context.run_begin) * context.ns_per_tick : 0;
}

}  // namespace

ProcessMinima process_minima(const std::vector<ThreadGroup>& parts) {
    ProcessMinima min;
    for (const ThreadGroup& part : parts) {
        if (part.times->outermost.count() > 0)
            min.outermost = std::min(min.outermost, part.times->outermost.min());
        min.self = std::min(min.self, part.times->self.min);
    }
    return min;
}

double share(double lost, double life) {
    return life > 0 ? std::clamp(lost / life, 0.0, 1.0) : 0.0;
}

double lower_bound(double estimate, double variance) {
    return variance > 0 ? std::max(estimate - kBoundErrors * std::sqrt(variance), 0.0) : estimate;
}

FunctionRow make_function_row(const RowContext& context, std::uint32_t function) {
    const trace::FunctionInfo& info = context.info.functions[function];
    FunctionRow row;
    row.function = function;
    row.name = info.name;
    row.module = info.module;
    row.source = info.source;

    std::vector<Sums> threads(context.threads.size());
    Distribution all;
    for (const mining::GroupId group : context.merged.of_function[function]) {
        const ProcessMinima min = process_minima(context.merged.threads[group]);
        for (const ThreadGroup& part : context.merged.threads[group]) {
            add_group(context.settings.baseline, min, part, threads[part.thread]);
            all.merge(part.times->outermost);
        }
    }
    Loss lost, self;
    double time = 0, few_time = 0, lost_variance = 0;
    for (std::size_t t = 0; t < threads.size(); ++t) {
        fill_thread(context, t, threads[t], all.min(), row);
        lost.add(threads[t].loss);
        self.add(threads[t].self);
        time += as_double(threads[t].time);
        few_time += as_double(threads[t].few_time);
        lost_variance += threads[t].sampling_variance;
    }
    fill_times(context, all, row);
    row.lost_ns = lost.lost() * context.ns_per_tick;
    row.rdam_all = share(lost.lost(), context.all_lives);
    row.rdam_all_low = share(lost.low(), context.all_lives);
    row.rdam_all_high = share(lost.high(), context.all_lives);
    row.rdam_self = share(self.lost(), context.all_lives);
    row.rdam_self_low = share(self.low(), context.all_lives);
    row.rdam_self_high = share(self.high(), context.all_lives);
    fill_sampling(context, all, lost_variance, row);
    row.few_occurrences = few_time > kFewShare * time;
    row.lower_bound = row.few_occurrences || row.sampled;
    std::ranges::stable_sort(row.threads, [](const ThreadShare& a, const ThreadShare& b) {
        return std::tie(b.rdam, b.lost_ns) < std::tie(a.rdam, a.lost_ns);
    });
    add_sequence_rows(context, row);
    add_stack_rows(context, row);
    return row;
}

}  // namespace rdam::score
