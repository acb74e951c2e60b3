// From the groups of one function to its row in the report.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyzer/report/inner_times.h"
#include "analyzer/report/report.h"
#include "analyzer/score/common_sequences.h"
#include "analyzer/score/resolved_settings.h"
#include "analyzer/score/thread_times.h"
#include "analyzer/statistics/distribution.h"

namespace rdam::score {

/// What all rows need to know.
struct RowContext {
    const trace::TraceInfo& info;
    const ResolvedSettings& settings;
    std::span<const std::unique_ptr<ThreadTimes>> threads;
    const MergedGroups& merged;
    const std::vector<std::uint64_t>& ids;       ///< sequences::lasting_ids of the merged groups
    const std::vector<std::uint64_t>& lives;     ///< T of each thread, ticks
    const std::vector<trace::TickRange>& spans;  ///< from its begin to its end
    const std::vector<bool>& short_lived;        ///< by thread
    /// By function and thread; of a function that is not sampled in windows there are none.
    const std::vector<std::vector<WindowEstimate>>& estimates;
    const InnerTimes& inner_times;
    double all_lives = 0;  ///< Σ T, ticks
    double ns_per_tick = 1;
    std::uint64_t run_begin = 0;  ///< ticks
    std::size_t max_sequences = 0;
    std::vector<std::string> shown;                          ///< by function: shown_names()
    std::vector<std::uint64_t> stack_samples = {};           ///< by stack, all threads
    std::vector<std::vector<std::uint32_t>> stacks_of = {};  ///< by function, those that were sampled

    /// Scored::resolution_ns.
    double resolution_ns() const {
        return std::max(static_cast<double>(settings.baseline.step) * ns_per_tick,
                        settings.cost.inner > 0 ? kOverlapNs : 0);
    }
    /// Null: the function is not sampled in windows.
    const WindowEstimate* estimate(std::uint32_t function, std::size_t thread) const {
        return estimates[function].empty() ? nullptr : &estimates[function][thread];
    }
};

/// Fills the last two.
void count_stacks(RowContext& context);

FunctionRow make_function_row(const RowContext& context, std::uint32_t function);

/// What is to be made of the losses of a function in one thread.
struct ThreadLoss {
    double dependence = 1;  ///< the variance as a multiple of that of independent calls
    /// The part of them that is reported: an estimate cannot exceed the thread's life, and there is none for
    /// a thread in which too little was seen (`unknown`).
    double said = 1;
    /// The part of what the calls seem to have lost that is not taken for the slowness of windows.
    double kept = 1;
    double bound_errors = kBoundErrors;  ///< the standard errors by which a score is below its estimate
    bool unknown = false;
};

/// Fills the sequences of `row`. `losses`: by thread.
void add_sequence_rows(const RowContext& context, std::span<const ThreadLoss> losses, FunctionRow& row);
/// Fills its sample and its slow calls, if samples were kept.
void add_sample(const RowContext& context, FunctionRow& row);
/// Fills the timelines of `report`, if a row has a sample.
void add_timelines(const RowContext& context, Report& report);
/// Fills its stacks and callers.
void add_stack_rows(const RowContext& context, std::span<const ThreadLoss> losses, FunctionRow& row);

/// Fills the patterns of `report`.
void add_pattern_rows(const RowContext& context, std::size_t most, Report& report);

/// The least of a group over all threads.
struct ProcessLeast {
    Least outermost;
    Least self;
};
ProcessLeast process_least(std::span<const ThreadGroup> parts);

/// Of a group's self times in one thread, sampled in windows or not.
SureLeast self_least(const GroupTimes& times);
void add_self_least(const GroupTimes& times, SureLeast& least);

/// lost / life within 0…1; 0 where there is no life.
double share(double lost, double life);

/// An estimated number of calls.
std::uint64_t rounded(double calls);

/// The estimate less so many standard errors, at least 0.
double lower_bound(double estimate, double variance, double errors);

// What functions wait for whose purpose is to wait.

/// ResolvedSettings::channel_descriptors: of channels at both of whose ends the process has been.
std::vector<std::uint64_t> channel_descriptors(const trace::TraceInfo& info);
/// Whether calls of one of the functions, with those of others, say for whom they wait: of a barrier, a function with partners, or
/// one that receives through such a channel.
bool any_says_for_whom(const trace::TraceInfo& info);
/// By function: it does, or is paired with one that does, and every call of it is recorded. Null: there are none.
std::shared_ptr<const std::vector<bool>> about_waits(const trace::TraceInfo& info, const NamedRules& rules);

/// FunctionRow::by_design of `row`, whose callers are known: the catalogue's word on the function, or, of
/// what other waits are made of (glibc's way to a futex), on the recorded function in which nearly all was
/// lost.
std::string waits_by_design(const RowContext& context, const FunctionRow& row);

// A distribution as a histogram.

/// `count` bars of equal width on a logarithmic scale, from the least duration (0 counts as one tick) to the
/// greatest. Each edge is off by at most half a bucket of the distribution, 0.8 %. None without calls.
std::vector<Bar> bars_of(const Distribution& durations, double ns_per_tick, std::size_t count);

}  // namespace rdam::score
