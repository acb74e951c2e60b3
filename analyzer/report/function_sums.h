// What the calls of one function in one thread add up to: the windows they were seen in, and what is known of
// them apart from these.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analyzer/report/function_row.h"
#include "analyzer/score/dependence.h"
#include "analyzer/statistics/distribution.h"
#include "analyzer/statistics/loss.h"

namespace rdam::score {

struct FunctionSums {
    const WindowEstimate* estimate = nullptr;  ///< null: not sampled in windows
    Loss loss;
    Loss self;
    double time = 0;       ///< Σ of the outermost calls' durations
    double few_time = 0;   ///< those in sequences with few occurrences
    double outermost = 0;  ///< scored outermost calls
    Distribution flat;     ///< all calls that count for themselves
    Distribution flat_in_windows;
    std::vector<double> lost_in_clusters;
    ClusterSums clusters;                ///< of the outermost calls in windows
    double inner_in_windows = 0;         ///< calls inside those
    double slowed = 0, slowed_most = 0;  ///< of the loss: what is so in windows alone
    const WaitTimes* waits = nullptr;    ///< what is known of them apart from the windows; null: nothing
    const OffInWindows* off = nullptr;   ///< likewise of the thread's times off the processors
    const OffInWindows::Inside* off_inside = nullptr;  ///< the part of `off` that is not in `waits`
    double preempted_part = 0;                         ///< … by time that calls have on processors
    std::vector<double> blocked;                       ///< … that began in each cluster of windows
    double blocked_part = 0;       ///< … by what of that was in the function; below 0: not known
    double kept = 1;               ///< ThreadLoss::kept
    double sampling_variance = 0;  ///< of the loss
    GroupBases bases;              ///< where it is not sampled in windows
    double dependence = 1;         ///< the variance of the loss as a multiple of that of independent calls

    /// Whether windows that opened inside a recursion, whose inner calls then seem to be outermost, have made
    /// up much of what was seen.
    bool is_recursive() const;
    /// Its calls were counted, and it is known how slow windows are.
    bool knows_slowing() const { return estimate != nullptr && estimate->slowing() != nullptr; }
    double expansion() const { return estimate != nullptr ? estimate->expansion() : 1; }
    /// How long the thread was off the processors in the function's calls since that is sampled in windows.
    OffTime off_known(double ns_per_tick) const;
    /// What is known apart from the windows, to a loss that they say. Of that, the rest is no less than nothing:
    /// what short calls seem to have lost less than nothing, as the clock erred, diminishes no wait. Where the fastest
    /// call has waited, too, the rest is less by that (fastest_inside()).
    void add_known_to(Loss& of_windows) const {
        const double rest = of_windows.lost() - expansion() * known_inside();
        of_windows.add_known(more() - std::min(rest + expansion() * fastest_inside(), 0.0), more_variance());
        if (waits != nullptr) of_windows.set_sure(surely_lost());
    }
    /// Of Σ (time − m · calls) over all calls, caused by sampling in windows.
    double cluster_variance(double m) const;

    void add_group(const Baseline& baseline, const ProcessLeast& process, const ThreadGroup& group);
    /// Behind the last group: what is known apart from the windows, and the variances.
    void complete(const RowContext& context, std::uint32_t function, std::size_t thread);

  private:
    void add_self(const Baseline& baseline, const ProcessLeast& process, const GroupTimes& times);
    void add_dependence(const RowContext& context, std::uint32_t function, std::size_t thread);
    void add_known(const RowContext& context, std::uint32_t function, std::size_t thread);
    void add_off(const ThreadWindows& windows, std::uint32_t group, const OffInWindows& times,
                 const OffInWindows::Inside& inside);
    void take_off_slowing();
    void add_window_variance();

    // What is known of waits, and of times without a processor, beyond what the windows say of them, in all
    // and in each cluster of windows, and by how much that changes a variance from run to run.
    double more() const { return more_waits() + more_preempted() + more_blocked(); }
    double known_inside() const;  ///< of the calls in windows
    double fastest() const;       ///< of all calls
    /// What so many calls have not lost of a time that is known inside them: if the fastest may have had the least
    /// of such times, too.
    double fastest_of(double calls, double least) const;
    /// … of `known` waits and calls of others, of which `made` are calls: one that calls another function may do
    /// less itself than the fastest.
    double not_lost(double known, double made) const;
    /// … of all that is known inside calls in windows.
    double fastest_inside() const;
    double surely_lost() const;
    double more_waits() const;
    double more_preempted() const;
    double more_blocked() const;
    double more_variance() const;
    void add_more(std::vector<double>& to) const;
    double variance_of_waits() const;
    double variance_of_preempted() const;
    double variance_of_blocked() const;
    double variance_of_few_blocked(std::size_t times) const;
    double blocked_times() const;
};

}  // namespace rdam::score
