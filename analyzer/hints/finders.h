// The kinds of hints. A new one: a function here, in a file of its own, and a line in `kFinders` (hints.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/hints/activities.h"
#include "analyzer/score/report/report.h"
#include "analyzer/trace/event.h"

namespace rdam::hints {

/// What a finder looks at: the loss of a function, or the part of it that was lost on the processor. At least
/// kMinCalls calls, and some loss.
struct Suspicion {
    const trace::TraceInfo& info;
    const score::Report& report;
    const Activities& activities;
    const trace::FunctionInfo& function;
    const score::FunctionRow& row;
    double ns_per_tick = 1;
    std::vector<double> lost;                            ///< by call of the sample, ns
    double lost_ns = 0;                                  ///< Σ weight × lost
    double calls = 0;                                    ///< Σ weight
    double share = 1;                                    ///< of the function's loss that it is about
    std::vector<score::Explained>* explained = nullptr;  ///< null: nobody asks what little explains
};

/// The score that would be left if so much of this part of the loss were explained.
inline double rdam_left(const Suspicion& suspicion, double explains) {
    return suspicion.row.rdam * (1 - explains * suspicion.share);
}

/// Of the row's sample. `on_processor`: without what was lost off the processors.
Suspicion suspicion_of(const trace::TraceInfo& info, const score::Report& report,
                       const Activities& activities, const score::FunctionRow& row, bool on_processor);

inline constexpr std::size_t kMinCalls = 30;
/// A hint is about at least this share of the loss.
inline constexpr double kWorthTelling = 0.5;

using Hints = std::vector<score::Hint>;

/// score::Hint::parameter of what is no parameter.
inline constexpr const char* kReturnValue = "return value";
inline constexpr const char* kCaller = "caller";
inline constexpr const char* kCallsInside = "calls inside";
inline constexpr const char* kKeysInside = "keys of calls inside";
inline constexpr const char* kCallsSoFar = "calls so far";

/// Kinds that several finders give.
inline constexpr const char* kParameter = "parameter";
inline constexpr const char* kParameterOrTime = "parameter_or_time";
inline constexpr const char* kTrend = "trend";

/// `parameter`: the time goes with a parameter, the caller or the return value; `parameter_or_time`:
/// likewise, but the variable cannot be told from the time of the run; `early_return`: the return value
/// separates fast calls from slow ones.
void find_parameters(const Suspicion& suspicion, Hints& hints);
/// `parameter`, of two of them or of one and the number of calls so far: only where `hints` has none yet.
void find_pairs(const Suspicion& suspicion, Hints& hints);
/// `first_touch`: calls that are given a page for the first time are the slow ones.
void find_first_touch(const Suspicion& suspicion, Hints& hints);
/// `trend`: the loss grows, or falls, all through the run. Not where a parameter that goes with time says so.
void find_trend(const Suspicion& suspicion, Hints& hints);
/// `two_times`: the calls take one of two times. For where nothing but time off the processor was found.
void find_two_times(const Suspicion& suspicion, Hints& hints);

/// Whether it is known how long the thread was off the processors during a call that ended then (ticks).
bool switches_known(const score::Report& report, std::uint64_t end);
/// `warm_up`: the first calls of each thread; `phase`: the loss is confined to an interval of the run, where
/// `hints` has no `trend`.
void find_times(const Suspicion& suspicion, Hints& hints);
/// `processor`: calls are slow on some processors; `migration`: calls that changed the processor.
void find_processors(const Suspicion& suspicion, Hints& hints);

/// `more_work`, `busy_wait`: calls that lose time execute more instructions; `slower_work`: they take longer
/// for the same. Only where instructions were counted.
void find_instructions(const Suspicion& suspicion, Hints& hints);

/// `suspect`: a function that another thread is inside while calls are slow.
void find_suspects(const Suspicion& suspicion, Hints& hints);
/// `blocked`, `preempted`: the loss is time off the processor.
void find_off_processor(const Suspicion& suspicion, Hints& hints);
/// `waits` or `no_parameter`: what was asked of the calls and explains less than half. `hints`: what was
/// found besides. Needs Suspicion::explained, as the other finders filled it.
score::Hint unexplained(const Suspicion& suspicion, const Hints& hints);
/// How much of the loss that was; nothing: too few calls during which context switches were recorded.
std::optional<score::OffShare> off_share(const Suspicion& suspicion);

}  // namespace rdam::hints
