// What a group of calls lost, with its error.
#pragma once

#include <cstdint>

#include "analyzer/statistics/distribution.h"
#include "tools/trace/event.h"

namespace rdam::score {

/// A minimum of fewer occurrences is not trusted (`lower_bound`).
inline constexpr std::uint64_t kFewOccurrences = 30;
/// With fewer values, it cannot be said that the fastest is an outlier: any two are some distance apart.
inline constexpr std::uint64_t kMinCompared = 8;

/// What the calls of a sequence in a thread are compared with.
struct Baseline {
    enum class Kind : std::uint8_t {
        thread,      ///< the fastest of them, as well as the clock can tell (base_of)
        process,     ///< the fastest in any thread, as well as the clock can tell
        minimum,     ///< the least of their durations, as in the thesis
        percentile,  ///< the `fraction` percentile of them: faster calls have lost nothing
    };
    Kind kind = Kind::thread;
    double fraction = 0;
    /// The ticks by which the trace's clock moves at a time; 0: not known. Not for users to choose: set where
    /// settings meet a trace.
    std::uint64_t step = 0;
    /// The ticks by which calls of equal work seem to last longer than the fastest of them; 0: not known. Set
    /// likewise.
    double error = 0;

    bool operator==(const Baseline&) const = default;
};

/// A baseline in ticks.
struct Base {
    double ticks = 0;
    double error = 0;  ///< by which it may be too high or too low for each call: Baseline::error
    bool cuts =
        false;  ///< calls that are faster have lost nothing; else they make up for others within a step
};

/// `calls` are all that is known of the thread's where there is a percentile; `thread` and `process` are of
/// the calls of the thread, and of all threads.
///
/// As well as the clock can tell: the fastest of many equal calls is the one whose timestamps erred most.
/// What the others seem to last longer on average (Baseline::error) is no loss (Least::usual).
Base base_of(const Baseline& baseline, const Distribution& calls, const Least& thread, const Least& process);

double lost(const Distribution& calls, const Base& base);

/// Σ over groups, in ticks.
///
/// The interval is about other stretches of the same run, as long as it: 95 % of them would come to something
/// within it. What else is different from run to run, where threads are placed and what else the machine
/// does, is not in it. Two things vary. The sum: each group of n calls adds n times the variance of a call
/// (the normal approximation of a sum), as if they were independent; dependence.h tells by how much they are
/// not (scale_variance). And the baseline, if it is a minimum: that of n calls lies above what is possible,
/// by an amount that is distributed like the gap between the two fastest calls, exponentially (Rényi, On the
/// theory of order statistics, 1953: the spacings at the end of any density that is positive there); so
/// nothing is taken off below, and above the gap is added ln 20 times to each call, as long as a baseline is
/// not below 0. The lone call of its group is taken to have lost anything up to its whole time. What the
/// clock errs in a call is known to about its own size (the fastest of a million calls is further from the
/// others than that of the thousand by which it was measured), which is taken off below and added above.
class Loss {
  public:
    /// A group whose distribution is not kept.
    struct Group {
        double count = 0;
        double lost = 0;
        double variance = 0;  ///< of a call
        double base = 0;
        double base_error = 0;
        double gap = 0;  ///< between the two fastest
    };

    void add(const Group& group, bool base_is_minimum);
    void add(const Loss& other);
    void add(const Distribution& calls, const Base& base);
    /// Adds a loss that is known apart from these calls, with the variance that it has from run to run; below
    /// 0: takes it away.
    void add_known(double lost, double variance);
    /// So much of it is known for sure: its errors are not those of the rest.
    void set_sure(double lost) { sure_ = lost; }
    double sure() const { return std::min(sure_, lost_); }
    /// Takes `taken` away, where nothing may have to be taken, or `most`: the interval has both ends.
    void take_unsure(double taken, double most);
    /// Adds the variance of an estimate from a sample.
    void add_variance(double variance) { variance_ += variance; }
    double variance() const { return variance_; }
    /// For calls that are not independent.
    void scale_variance(double factor) { variance_ *= factor; }
    /// Becomes the loss of `factor` times as many calls.
    void multiply(double factor);

    double lost() const { return lost_; }
    double low() const;
    double high() const;
    /// Without the fastest 1 % of each group's calls, the fastest one at least, less than half of the time
    /// would count as lost: those few are not what the rest could have been, but early returns or calls cut
    /// short. Groups of fewer than kMinCompared are not judged.
    bool minimum_stands_alone() const { return judged_ > lost_ / 2 && robust_ < judged_ / 2; }

  private:
    double lost_ = 0;
    double judged_ = 0;  ///< in groups that are large enough
    double robust_ = 0;  ///< in those, against the 1st percentile, and not the fastest call
    double variance_ = 0;
    double slack_ = 0;   ///< by which the minima may be too high
    double error_ = 0;   ///< by which the clock may have erred, either way
    double unsure_ = 0;  ///< by which it may be too high besides
    double sure_ = 0;    ///< of lost_
};

// The score of constant work, which comes from the clock's resolution and the machine's noise.

/// The score that so many calls of constant work, `time` long together, would get in a thread that lives for
/// `life`. By each call the error of the clock, as the recorder measured it (trace::ClockInfo::error_ticks;
/// against the plain minimum a step more), and of their time what the machine takes
/// (trace::ProcessInfo::machine_share). 0…1; 0 where the trace does not tell. Times in ticks.
double floor_of(const trace::TraceInfo& info, const Baseline& baseline, double calls, double time,
                double life);

}  // namespace rdam::score
