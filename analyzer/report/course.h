// When time was lost, by thread and function.
//
// A call's loss is spread evenly over the time from its begin to its end. What adds up: Σ lost_ns over the
// bins of a thread and function = ThreadShare::lost_ns, over the threads FunctionRow::lost_ns. A function
// with one baseline for calls in several bins may have calls within a step of the clock below it: a bin is
// never below 0, and the others are lowered instead. With a percentile as the baseline, what was lost in each
// of several bins is approximate.
#pragma once

#include <cstdint>
#include <vector>

namespace rdam::score {

/// Outermost scored calls of a function in a thread, as far as they lie in a bin: half of a call counts half.
struct CourseCell {
    std::uint32_t thread = 0;    ///< index into Report::threads
    std::uint32_t function = 0;  ///< index into TraceInfo::functions
    std::uint32_t bin = 0;       ///< below Course::kBins
    double calls = 0;
    double time_ns = 0;  ///< Σ net durations
    double lost_ns = 0;
};

struct Course {
    static constexpr std::uint32_t kBins = 192;

    double begin_ns = 0;  ///< of the first bin, since the run's start
    double bin_ns = 0;    ///< length of a bin; 0: not asked for, or the run has no length. What was recorded
                          ///< outside of the bins (at wild times) is in the first or the last one
    std::vector<CourseCell> cells;  ///< in the order of threads, functions and bins; only those with calls
    /// Parts of calls for which there was no room (ResolvedSettings::most_course): how many of which sequence
    /// were in which bin is not known, and the loss of their sequences is divided among their bins by their
    /// time and number.
    std::uint64_t approximate = 0;
};

}  // namespace rdam::score
