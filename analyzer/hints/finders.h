// The kinds of hints, and what they are looked for in: the calls of one function, and what each of them lost. A new
// kind: a function here, in a file of its own, and a line in `kKinds` (hints.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/hints/activities.h"
#include "analyzer/hints/hints.h"
#include "analyzer/report/function_row.h"
#include "analyzer/report/report.h"
#include "analyzer/sequences/known_functions.h"
#include "tools/trace/event.h"

namespace rdam::hints {

/// What a finder looks at: the loss of a function, or the part of it that was lost on the processor. At least
/// kMinCalls calls, and some loss.
struct LossPart {
    const trace::TraceInfo& info;
    const score::Report& report;
    const Activities& activities;
    const trace::FunctionInfo& function;
    const score::FunctionRow& row;
    double ns_per_tick = 1;
    std::vector<double> lost;                     ///< by call of the sample, ns
    double lost_ns = 0;                           ///< Σ weight × lost
    double calls = 0;                             ///< Σ weight
    double share = 1;                             ///< of the function's loss that it is about
    std::vector<Explained>* explained = nullptr;  ///< null: small explanations are not needed
    AddressNames names = {};
};

/// The score that would remain if so much of this part of the loss were explained.
inline double rdam_left(const LossPart& loss, double explains) {
    return loss.row.rdam * (1 - explains * loss.share);
}

/// The share of the function's loss that the calls inside it have lost, at least; 0: not known.
double lost_inside(const LossPart& loss);

/// From the row's sample. `on_processor`: without the off-CPU part of the loss.
LossPart loss_part(const trace::TraceInfo& info, const score::Report& report, const Activities& activities,
                   const score::FunctionRow& row, bool on_processor);

using score::kMinCalls;
using sequences::known_wait;
/// A hint is about at least this share of the loss.
inline constexpr double kMinExplained = 0.5;

/// Hint::parameter for variables that are not parameters.
inline constexpr const char* kReturnValue = "return value";
inline constexpr const char* kCaller = "caller";
inline constexpr const char* kCallsInside = "calls inside";
inline constexpr const char* kKeysInside = "keys of calls inside";
inline constexpr const char* kCallsSoFar = "calls so far";

/// Whether it is known how long the thread was off the processors during the call.
bool switches_known(const score::Report& report, const samples::SampledCall& call);

// The finders.

/// `parameter`: the time goes with a parameter, the caller or the return value; `parameter_or_time`: the
/// same, but the variable cannot be distinguished from the time of the run; `early_return`: the return value
/// separates fast calls from slow ones.
void find_parameters(const LossPart& loss, Hints& hints);
/// `parameter`, of two of them or of one and the number of calls so far: only where `hints` has none yet. Part of
/// find_parameters().
void find_pairs(const LossPart& loss, Hints& hints);
/// `first_touch`: calls that are given a page for the first time are the slow ones.
void find_first_touch(const LossPart& loss, Hints& hints);
/// `trend`: the loss grows, or falls, all through the run. Not where a parameter that goes with time says so.
void find_trend(const LossPart& loss, Hints& hints);
/// `two_times`: the calls take one of two times. For where nothing but time off the processor was found.
void find_two_times(const LossPart& loss, Hints& hints);

/// `warm_up`: the first calls of each thread; `phase`: the loss is confined to an interval of the run, where
/// `hints` has no `trend`.
void find_times(const LossPart& loss, Hints& hints);
/// `processor`: calls are slow on some processors; `migration`: calls that changed the processor.
void find_processors(const LossPart& loss, Hints& hints);

/// `more_work`, `busy_wait`: calls that lose time execute more instructions; `slower_work`: they take longer
/// for the same. Only where instructions were counted.
void find_instructions(const LossPart& loss, Hints& hints);

/// `owner`: the thread that had the lock that was waited for; `last_to_come`: that came last to the barrier;
/// `notifier`: that ended the wait; `joined`: whose end was waited for.
void find_owners(const LossPart& loss, Hints& hints);
/// `concurrent`: a function that another thread is inside while calls are slow.
void find_concurrent_functions(const LossPart& loss, Hints& hints);
/// `waited`: waits that were recorded apart from the calls.
void find_waits(const LossPart& loss, Hints& hints);
/// `blocked`, `preempted`: the loss is time off the processor.
void find_off_processor(const LossPart& loss, Hints& hints);
/// `waits` or `no_parameter`: the variables that were examined and explain less than half. `hints`: the other
/// findings. `named`: one of them names who was waited for, so that nobody has to find it out. Needs
/// LossPart::explained, as the other finders filled it.
std::optional<Hint> unexplained(const LossPart& loss, const Hints& hints, bool named);
/// The part of the loss `whole` that was lost on processors, which is what `on` is about; 0…1.
double on_processor_share(const LossPart& whole, const LossPart& on);
/// How much of the loss was off the processors; nothing: too few calls during which context switches were
/// recorded.
std::optional<OffShare> off_share(const LossPart& loss);

}  // namespace rdam::hints
