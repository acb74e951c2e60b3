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

    double ticks() const { return static_cast<double>(end - begin); }

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

/// A wait, or a part of it, of which it is known for whom.
struct Held {
    enum class By : std::uint8_t {
        owner,    ///< who has the mutex
        arrival,  ///< who comes last to the barrier
    };
    static constexpr std::size_t kNotKnown = SIZE_MAX;
    /// For nobody in particular: the mutex has been given back, or all have come, and the thread that was woken
    /// has not come to run yet. Meanwhile others may have had the mutex.
    static constexpr std::size_t kWoken = kNotKnown - 1;

    Interval time;
    std::uint64_t object = 0;       ///< address of the mutex or the barrier; 0: not known
    std::uint32_t function = 0;     ///< that waits
    std::size_t owner = kNotKnown;  ///< index into Report::threads
    By by = By::owner;

    bool is_owned() const { return owner < kWoken; }
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
    /// O(n log n) for n calls in the timelines.
    Activities(const trace::TraceInfo& info, const score::Report& report);

    bool several_threads() const { return threads_.size() > 1; }
    const std::vector<OfThread>& threads() const { return threads_; }  ///< by index into Report::threads
    /// 1 while any thread is inside, by function.
    const std::map<std::uint32_t, Steps>& of_any() const { return of_any_; }
    const Inside* find(std::size_t thread, std::uint32_t function) const;
    /// Ticks of the trace, as kept ones.
    Interval kept(const Interval& time) const { return time_(time); }
    /// The part of the thread's life that is kept, ticks.
    double life(std::size_t thread) const { return thread < lives_.size() ? lives_[thread] : 0; }
    /// What the thread waited for, in the order of time, each kind by itself; empty: nothing, or it is not
    /// known.
    std::span<const Held> waits_of(std::size_t thread, Held::By by) const {
        const auto& waits = by == Held::By::owner ? waits_ : arrivals_;
        return thread < waits.size() ? std::span{waits[thread]} : std::span<const Held>{};
    }
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

    bool find_owners(const score::Report& report);
    void find_arrivals(const trace::TraceInfo& info, const score::Report& report);
    void find_off(const score::Report& report);

    KeptTime time_;
    std::vector<OfThread> threads_;
    std::map<std::uint32_t, Steps> of_any_;
    std::vector<std::vector<Held>> waits_;     // by thread
    std::vector<std::vector<Held>> arrivals_;  // likewise
    std::vector<Off> off_;                     // likewise
    std::vector<double> lives_;                // likewise
};

}  // namespace rdam::hints
