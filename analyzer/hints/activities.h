// When the threads were inside each function, according to their timelines.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzer/hints/steps.h"
#include "analyzer/report/report.h"

namespace rdam::hints {

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
