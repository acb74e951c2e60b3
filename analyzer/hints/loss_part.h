// What a hint is looked for in: the calls of one function, and what each of them lost.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/hints/activities.h"
#include "analyzer/hints/hints.h"
#include "analyzer/report/report.h"
#include "tools/trace/event.h"
#include "wrappers/catalogue/catalogue.h"

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
/// A hint is about at least this share of the loss.
inline constexpr double kWorthTelling = 0.5;

/// Hint::parameter for variables that are not parameters.
inline constexpr const char* kReturnValue = "return value";
inline constexpr const char* kCaller = "caller";
inline constexpr const char* kCallsInside = "calls inside";
inline constexpr const char* kKeysInside = "keys of calls inside";
inline constexpr const char* kCallsSoFar = "calls so far";

/// Whether it is known how long the thread was off the processors during a call that ended then (ticks).
bool switches_known(const score::Report& report, std::uint64_t end);

// What the catalogue says of a function that waits.

/// nullptr: it does not wait, as far as the recorder found, or nothing more is known.
inline const CatalogueFunction* known_wait(const trace::FunctionInfo& function) {
    if (!function.waits && !function.busy_waits) return nullptr;
    return Catalogue::builtin().find(function.linkage_name.empty() ? function.name : function.linkage_name);
}

}  // namespace rdam::hints
