#include "analyzer/report/function_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/report/windowed_part.h"
#include "analyzer/statistics/as_double.h"
#include "analyzer/statistics/sampling.h"

namespace rdam::score {
namespace {

double sum(const ClusterSums& sums) {
    double all = 0;
    for (const ClusterSum& each : sums.sums())
        all += each.time;
    return all;
}

double calls_of(const ClusterSums& sums) {
    double all = 0;
    for (const ClusterSum& each : sums.sums())
        all += each.calls;
    return all;
}

bool is_minimum(const Baseline& baseline) {
    return baseline.kind != Baseline::Kind::percentile;
}

}  // namespace

void FunctionSums::add_self(const Baseline& baseline, const ProcessLeast& process, const GroupTimes& times) {
    const SelfTimes in_windows = times.self(baseline.step);
    const WindowedTimes* const windowed = times.windowed();
    const Least thread = self_least(times).least();
    Loss lost;
    lost.add(in_windows.loss(baseline, thread, process.self), is_minimum(baseline));
    lost.multiply(expansion());
    self.add(lost);
    if (windowed != nullptr)
        self.add(windowed->before.self(baseline.step).loss(baseline, thread, process.self),
                 is_minimum(baseline));
}

void FunctionSums::add_group(const Baseline& baseline, const ProcessLeast& process,
                             const ThreadGroup& group) {
    add_self(baseline, process, *group.times);
    const PartCalls calls{group, estimate, PartCalls::Which::outermost, baseline.step};
    if (calls.empty()) return;
    const Base base = calls.base(baseline, process.outermost);
    loss.add(calls.loss(base));
    outermost += calls.calls();
    time += calls.time();
    if (calls.recorded() < kFewOccurrences) few_time += calls.time();
    flat.merge(calls.own());
    flat_in_windows.merge(calls.sample());
    const double variance = calls.tree_variance(base);
    sampling_variance += variance;
    loss.add_variance(variance);
    if (estimate == nullptr) {
        bases.emplace_back(group.group, base.ticks);
        return;
    }
    lost_in_clusters.resize(estimate->clusters());
    calls.add_clusters(base, lost_in_clusters);
    if (group.times->inner() != nullptr) inner_in_windows += as_double(group.times->inner()->count());
    if (group.times->held() != nullptr)
        inner_in_windows += as_double(group.times->held()->inner.seeming.count());
    if (group.times->windowed() != nullptr) clusters.add(group.times->windowed()->clusters);
}

bool FunctionSums::is_recursive() const {
    if (estimate == nullptr || estimate->is_negligible() || clusters.sums().empty()) return false;
    double outer = 0;
    for (const ClusterSum& each : clusters.sums())
        outer += each.calls;
    if (!(outer > 0)) return false;
    // At a window's begin, half of a recursion is still to come.
    constexpr double kMuch = 0.1;
    const double windows = as_double(clusters.sums().size());
    const double in_a_recursion = inner_in_windows / outer;
    return windows * in_a_recursion / 2 > kMuch * outer;
}

void FunctionSums::complete(const RowContext& context, std::uint32_t function, std::size_t thread) {
    add_dependence(context, function, thread);
    add_known(context, function, thread);
    add_window_variance();
}

/// Samples of trees and of windows know their variance.
void FunctionSums::add_dependence(const RowContext& context, std::uint32_t function, std::size_t thread) {
    const ThreadTimes& times = *context.threads[thread];
    const double independent = loss.variance();
    if (estimate != nullptr || sampling_variance > 0 || times.samples.empty() || !(independent > 0)) return;
    const auto found = variance_over_time(losses_of(times.samples[function], std::move(bases)),
                                          context.spans[thread], independent);
    if (found) dependence = *found / independent;
    loss.scale_variance(dependence);
    self.scale_variance(dependence);
}

/// Not in the single sequences: what was not in a window says nothing of the call's key.
void FunctionSums::add_known(const RowContext& context, std::uint32_t function, std::size_t thread) {
    if (estimate == nullptr || !estimate->is_counted()) return;
    const ThreadTimes& times = *context.threads[thread];
    if (const auto found = times.waits.find(function); found != times.waits.end()) waits = &found->second;
    const WaitTimes* const inner = context.inner_times.of(function, thread);
    if (inner != nullptr) waits = inner;
    if (const auto found = times.off_in_windows.find(function); found != times.off_in_windows.end())
        add_off(times.sampling_windows, context.info.functions[function].window_group, found->second,
                inner != nullptr ? found->second.besides_others : found->second.inside);
    take_off_slowing();
    add_known_to(loss);
    // In which of the calls inside it a function was preempted is not known. A call, or a wait of another
    // function, inside it is no self time.
    const double inside = waits != nullptr ? expansion() * (sum(waits->inside) - waits->in_calls_inside) : 0;
    const double rest = self.lost() - inside + expansion() * fastest_inside();
    self.add_known((inner == nullptr ? more_waits() : -inside) - std::min(rest, 0.0), variance_of_waits());
    time += more();
    if (waits != nullptr && outermost <= 0) outermost = as_double(waits->calls);
    lost_in_clusters.resize(estimate->clusters());
    add_more(lost_in_clusters);
}

/// What calls take in windows alone, they have not lost: what the program seems to be slower by in the
/// function's windows, in which no other one is recorded, is taken off as far as it is beyond chance, and at
/// least the part of it that is sure. The errors of both estimates cancel rather than add: a long call that
/// falls into a window by chance makes the program seem slower there.
void FunctionSums::take_off_slowing() {
    const WindowEstimate::Slowing* const slowing = estimate->slowing();
    if (slowing == nullptr) return;
    double taken = sum(clusters), lost = 0;
    for (const double each : lost_in_clusters)
        lost += each;
    const double elsewhere = known_inside();
    const auto of_loss = [&](double ticks) {
        return expansion() * std::clamp(ticks, 0.0, std::max(lost - elsewhere, 0.0));
    };
    slowed =
        of_loss(std::max(beyond_chance(slowing->ticks, slowing->error), slowing->part * (taken - elsewhere)));
    slowed_most = std::max(of_loss(slowing->ticks), slowed);
    const double before = loss.lost();
    const double own = before > 0 ? std::min(self.lost() / before, 1.0) : 0;
    loss.take_unsure(slowed, slowed_most);
    self.take_unsure(own * slowed, own * slowed_most);
    if (before > 0) kept = loss.lost() / before;
}

void FunctionSums::add_off(const ThreadWindows& windows, std::uint32_t group, const OffInWindows& times,
                           const OffInWindows::Inside& inside) {
    off = &times;
    off_inside = &inside;
    // However small the parts are of which it is made up, it has no more than all of the thread's own time.
    const double own = std::max(estimate->own_left(), expansion() * sum(off->on));
    preempted_part = own > 0 ? off->preempted / own : 0;
    double all = 0;
    for (std::size_t cluster = 0; cluster < estimate->clusters(); ++cluster) {
        blocked.push_back(windows.blocked(group, cluster));
        all += blocked.back();
    }
    blocked_part = all > 0 ? std::min(sum(off_inside->blocked) / all, 1.0) : -1;
    const double variance = variance_of_few_blocked(windows.times_blocked(group));
    sampling_variance += variance;
    loss.add_variance(variance);
}

/// The windows are the same for all groups.
void FunctionSums::add_window_variance() {
    if (estimate == nullptr) return;
    const double variance = estimate->variance(lost_in_clusters);
    sampling_variance += variance;
    loss.add_variance(variance);
}

double FunctionSums::cluster_variance(double m) const {
    if (estimate == nullptr) return 0;
    std::vector<double> y(estimate->clusters());
    for (const ClusterSum& each : clusters.sums())
        if (each.cluster < y.size()) y[each.cluster] = each.time - m * each.calls;
    add_more(y);
    return estimate->variance(y);
}

OffTime FunctionSums::off_known(double ns_per_tick) const {
    double blocked_ticks = 0, preempted_ticks = 0;
    if (waits != nullptr) {
        blocked_ticks += waits->blocked;
        preempted_ticks += waits->preempted;
    }
    if (off != nullptr) {
        preempted_ticks += expansion() * preempted_part * sum(off->on);
        blocked_ticks +=
            blocked_part < 0 ? expansion() * sum(off_inside->blocked) : blocked_part * off->blocked;
    }
    return {blocked_ticks * ns_per_tick, preempted_ticks * ns_per_tick};
}

double FunctionSums::known_inside() const {
    double inside = waits != nullptr ? sum(waits->inside) : 0;
    if (off != nullptr) inside += sum(off_inside->preempted) + sum(off_inside->blocked);
    return inside;
}

double FunctionSums::fastest() const {
    const double before = flat.count() > 0 ? as_double(flat.min()) : HUGE_VAL;
    const double in_windows = flat_in_windows.count() > 0 ? as_double(flat_in_windows.min()) : HUGE_VAL;
    const double least = std::min(before, in_windows);
    if (std::isfinite(least)) return least;
    // Where no call was recorded, and most have waited, it may be that all have.
    const bool most = waits != nullptr && 2 * as_double(waits->calls) > estimate->calls({});
    return most ? waits->least : 0;
}

double FunctionSums::fastest_of(double calls, double least) const {
    return fastest() >= least ? calls * fastest() : 0;
}

double FunctionSums::not_lost(double known, double made) const {
    return made * fastest() + fastest_of(known - made, waits->least);
}

double FunctionSums::fastest_inside() const {
    double all = 0;
    if (waits != nullptr) all += not_lost(calls_of(waits->inside), as_double(waits->calls_made_inside));
    if (off != nullptr)
        all += fastest_of(calls_of(off_inside->preempted), off_inside->least_preempted) +
               fastest_of(calls_of(off_inside->blocked), off_inside->least_blocked);
    return all;
}

double FunctionSums::surely_lost() const {
    if (waits == nullptr) return 0;
    return std::max(waits->time - not_lost(as_double(waits->calls), as_double(waits->calls_made)), 0.0);
}

/// Where windows do not stand for the rest, nothing else says what these calls would have taken at least.
double FunctionSums::more_waits() const {
    if (waits == nullptr) return 0;
    const double least = estimate->is_of_few()
                             ? not_lost(as_double(waits->calls) - calls_of(waits->inside),
                                        as_double(waits->calls_made - waits->calls_made_inside))
                             : 0;
    return waits->time - expansion() * sum(waits->inside) - least;
}

double FunctionSums::more_preempted() const {
    if (off == nullptr) return 0;
    return expansion() * (preempted_part * sum(off->on) - sum(off_inside->preempted));
}

double FunctionSums::more_blocked() const {
    if (off == nullptr || blocked_part < 0) return 0;
    return blocked_part * off->blocked - expansion() * sum(off_inside->blocked);
}

void FunctionSums::add_more(std::vector<double>& to) const {
    const auto add = [&](const ClusterSums& sums, double times) {
        for (const ClusterSum& each : sums.sums())
            if (each.cluster < to.size()) to[each.cluster] += times * each.time;
    };
    if (waits != nullptr) add(waits->inside, -1);
    if (off == nullptr) return;
    add(off_inside->preempted, -1);
    add(off->on, preempted_part);
    if (blocked_part < 0) return;
    add(off_inside->blocked, blocked_times() - 1);
    for (std::size_t cluster = 0; cluster < std::min(to.size(), blocked.size()); ++cluster)
        to[cluster] -= blocked_times() * blocked_part * blocked[cluster];
}

double FunctionSums::more_variance() const {
    return variance_of_waits() + variance_of_preempted() + variance_of_blocked();
}

double FunctionSums::variance_of_waits() const {
    return waits != nullptr ? waits->squares - expansion() * waits->squares_inside : 0;
}

double FunctionSums::variance_of_preempted() const {
    if (off == nullptr || off->preempted <= 0) return 0;
    const double squares = preempted_part * sum(off->on) * off->preempted_squares / off->preempted;
    return expansion() * (squares - off_inside->preempted_squares);
}

double FunctionSums::variance_of_blocked() const {
    if (off == nullptr || blocked_part < 0) return 0;
    return blocked_part * off->blocked_squares - expansion() * off_inside->blocked_squares;
}

/// With so many times blocked in windows, their part in the function is not known well, even where it is all
/// or nothing (Laplace's rule of succession): its square distance from what was seen, on average.
double FunctionSums::variance_of_few_blocked(std::size_t times) const {
    if (off == nullptr || blocked_part <= 0) return 0;
    // How much of it was in the function's own waits is known.
    const double rest = off->blocked - (waits != nullptr ? waits->blocked : 0);
    if (rest <= 0) return 0;
    const double n = as_double(times) * rest / off->blocked;
    const double seen = std::min(blocked_part * off->blocked / rest, 1.0);
    const double part = (seen * n + 1) / (n + 2);
    return rest * rest * (part * (1 - part) / (n + 3) + (seen - part) * (seen - part));
}

/// How many times as long the thread was blocked in all as in the extrapolated windows.
double FunctionSums::blocked_times() const {
    double in_windows = 0;
    for (const double each : blocked)
        in_windows += each;
    return in_windows > 0 ? off->blocked / (expansion() * in_windows) : 0;
}

}  // namespace rdam::score
