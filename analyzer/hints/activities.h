// When the threads were inside each function, according to their timelines, as functions of time that are constant
// between finitely many moments: sets of times, and how much is lost when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/report/report.h"

namespace rdam::hints {

/// [begin, end), in ticks.
struct Interval {
    std::uint64_t begin = 0, end = 0;

    friend bool operator==(const Interval&, const Interval&) = default;
};

using Intervals = std::vector<Interval>;

/// As sorted, disjoint intervals that are not empty. Any intervals, in any order.
Intervals united(Intervals intervals);

/// 0 outside of its parts. Immutable, hence thread-safe.
class Steps {
  public:
    struct Part {
        Interval time;
        double value = 0;
    };

    Steps() = default;
    /// Their sum. Any parts, in any order. O(n log n).
    explicit Steps(std::span<const Part> parts);
    /// 1 at these times, which are as `united` gives them. O(n).
    explicit Steps(const Intervals& set);

    /// ∫ of the two's product over all times. O(n log m), n the number of moments of the one
    /// that has fewer.
    friend double product(const Steps& a, const Steps& b);

  private:
    /// The integral is linear between two moments.
    struct Moment {
        std::uint64_t time = 0;
        double until = 0;  ///< ∫ of all times before
    };

    /// ∫ of all times before `time`. `passed`: how many moments are known not to be later, and then how many
    /// are.
    double until(std::uint64_t time, std::size_t& passed) const;

    std::vector<Moment> moments_;
};

/// Time without the windows that are not kept: a moment is the number of ticks kept before it. Times that are
/// not kept have no length, so that nothing has to be cut.
class KeptTime {
  public:
    /// For a run from `run.begin` to `run.end`; nothing if its length is impossible.
    static std::optional<KeptTime> of(const samples::Windows& windows, const Interval& run);

    std::uint64_t operator()(std::uint64_t tsc) const;
    Interval operator()(const Interval& time) const { return {(*this)(time.begin), (*this)(time.end)}; }

  private:
    struct Run {
        Interval kept;
        std::uint64_t before = 0;  ///< ticks kept before it
    };

    std::vector<Run> runs_;  ///< sorted, disjoint
};

/// All times are kept ones. Immutable, hence thread-safe.
class Activities {
  public:
    /// One stay of a thread in a function.
    struct Inside {
        std::uint32_t function = 0;
        Intervals times;
        Steps alone;  ///< 1 while no other thread is inside it
    };
    /// By function.
    using OfThread = std::vector<Inside>;

    Activities() = default;
    /// O(n log n) for n calls in the timelines.
    explicit Activities(const score::Report& report);

    bool several_threads() const { return threads_.size() > 1; }
    const std::vector<OfThread>& threads() const { return threads_; }  ///< by index into Report::threads
    /// 1 while any thread is inside, by function.
    const std::map<std::uint32_t, Steps>& of_any() const { return of_any_; }
    const Inside* find(std::size_t thread, std::uint32_t function) const;
    Interval kept(const score::SlowCall& call) const { return time_({call.begin, call.end}); }

  private:
    KeptTime time_;
    std::vector<OfThread> threads_;
    std::map<std::uint32_t, Steps> of_any_;
};

}  // namespace rdam::hints
