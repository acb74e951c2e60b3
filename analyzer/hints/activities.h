// When the threads were inside each function, according to their timelines, as functions of time that are constant
// between finitely many moments: sets of times, and how much is lost when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/hints/waits.h"
#include "analyzer/report/report.h"

namespace rdam::hints {

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

/// All times are kept ones. Immutable, hence thread-safe.
class Activities {
  public:
    /// One stay of a thread in a function.
    struct Inside {
        std::uint32_t function = 0;
        Intervals times;
        Steps during;  ///< 1 at these times
        Steps alone;   ///< 1 while no other thread is inside it
    };
    /// By function.
    using OfThread = std::vector<Inside>;

    Activities() = default;
    /// O(n log n) for n calls in the timelines, by `jobs` threads.
    Activities(const trace::TraceInfo& info, const score::Report& report, unsigned jobs = 1);

    bool several_threads() const { return threads_.size() > 1; }
    const std::vector<OfThread>& threads() const { return threads_; }  ///< by index into Report::threads
    /// 1 while any thread is inside, by function.
    const std::map<std::uint32_t, Steps>& of_any() const { return of_any_; }
    const Inside* find(std::size_t thread, std::uint32_t function) const;
    /// Ticks of the trace, as kept ones.
    Interval kept(const Interval& time) const { return waits_.time()(time); }
    /// The part of the thread's life that is kept, ticks.
    double life(std::size_t thread) const { return thread < lives_.size() ? lives_[thread] : 0; }
    const Waits& waits() const { return waits_; }
    /// In the windows of calls that say who waits for whom: in their own kept times, which no other part of this knows. At
    /// least what waits() has.
    const Waits& all_waits() const { return all_waits_; }
    /// 1 while the thread was on no processor by its own doing, and while it was preempted. 0 where that is not
    /// known of the whole run.
    const Steps& blocked(std::size_t thread) const { return off_of(thread).blocked; }
    const Steps& preempted(std::size_t thread) const { return off_of(thread).preempted; }
    double blocked_ticks(std::size_t thread) const { return off_of(thread).blocked_ticks; }

  private:
    struct Off {
        Steps blocked, preempted;
        double blocked_ticks = 0;
    };

    const Off& off_of(std::size_t thread) const {
        static const Off kNone;
        return thread < off_.size() ? off_[thread] : kNone;
    }

    void find_off(const score::Report& report);

    Waits waits_, all_waits_;
    std::vector<OfThread> threads_;
    std::map<std::uint32_t, Steps> of_any_;
    std::vector<Off> off_;       // by thread
    std::vector<double> lives_;  // likewise
};

}  // namespace rdam::hints
