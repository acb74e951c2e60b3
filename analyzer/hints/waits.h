// For whom threads waited, part by part of each wait: for who had what they waited for, who was the last to come, or
// who was to wake them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/report/report.h"
#include "tools/trace/event.h"

namespace rdam::hints {

/// [begin, end), in ticks.
struct Interval {
    std::uint64_t begin = 0, end = 0;

    double ticks() const { return static_cast<double>(end - begin); }

    friend bool operator==(const Interval&, const Interval&) = default;
};

/// Time without the windows that are not kept: a moment is the number of ticks kept before it. Times that are
/// not kept have no length, so that nothing has to be cut.
class KeptTime {
  public:
    /// For a run from `run.begin` to `run.end`; nothing if its length is impossible.
    static std::optional<KeptTime> of(const samples::Windows& windows, const Interval& run);

    std::uint64_t operator()(std::uint64_t tsc) const;
    /// The other way round: from the first to the last tick of it, with whatever is not kept in between.
    Interval ticks(const Interval& kept) const;
    Interval operator()(const Interval& time) const { return {(*this)(time.begin), (*this)(time.end)}; }
    /// Whether all of it is kept.
    bool keeps(const Interval& time) const { return (*this)(time).ticks() == time.ticks(); }
    /// The end of the time around `tsc` that is kept without a gap; `tsc` where it is not kept itself.
    std::uint64_t kept_until(std::uint64_t tsc) const;

  private:
    struct Run {
        Interval kept;
        std::uint64_t before = 0;  ///< ticks kept before it
    };

    std::vector<Run> runs_;  ///< sorted, disjoint
};

/// Kinds of objects that threads send through: pipes, sockets and event counters. Their objects are the kernel's numbers
/// (trace::ChannelInfo), and no addresses.
inline constexpr std::array<std::string_view, 3> kChannels{"pipe", "socket", "eventfd"};
inline bool is_channel(std::string_view kind) {
    return std::ranges::find(kChannels, kind) != kChannels.end();
}

/// A wait, or a part of it, of which it is known for whom.
struct Held {
    enum class By : std::uint8_t {
        owner,     ///< who has the mutex, or another lock
        arrival,   ///< who comes last to the barrier
        notifier,  ///< who ends the wait: signals the condition variable, posts the semaphore
        end,       ///< who is joined: the wait ends when that thread does
    };
    static constexpr std::array kBys{By::owner, By::arrival, By::notifier, By::end};
    static constexpr std::size_t kNotKnown = SIZE_MAX;
    /// For nobody in particular: the mutex has been given back, all have come, the thread has been notified or
    /// the joined one has ended, and it has not come to run yet. Meanwhile others may have had the mutex.
    static constexpr std::size_t kWoken = kNotKnown - 1;

    Interval time;
    std::uint64_t object =
        0;  ///< address of the mutex, the barrier, …, or the number of a channel; 0: not known
    std::uint32_t function = 0;     ///< that waits
    std::size_t owner = kNotKnown;  ///< index into Report::threads
    By by = By::owner;
    Interval wait = {};               ///< that it is a part of, in ticks of the clock, kept or not
    std::string_view kind = "mutex";  ///< of object: or `read-write lock`, `condition variable`, …
    /// The return address of the call with which the owner ends it: gives the object back, comes to the barrier, notifies.
    /// 0: it is not known.
    std::uint64_t ended_from = 0;

    bool is_owned() const { return owner < kWoken; }
};

/// The end of a wait that is known to be another thread's doing.
struct Release {
    std::size_t waiter = 0, releaser = 0;  ///< indices into Report::threads
    Interval wait;                         ///< ticks of the clock
    std::uint64_t at = 0;                  ///< likewise: when the releaser gave back, came, notified or ended
    double waited = 0;  ///< ticks of the wait, as far as they are kept, that were for the releaser
    Held::By by = Held::By::owner;
    std::uint64_t object = 0;      ///< as in Held
    std::uint32_t function = 0;    ///< likewise
    std::string_view kind = {};    ///< likewise
    std::uint64_t ended_from = 0;  ///< likewise
};

struct Releases {
    std::vector<Release> largest;  ///< the longest waits first
    std::size_t left_out = 0;      ///< more of them
    double waited =
        0;  ///< ticks of all waits but joins, of which it is always known, as far as they are kept
    double released = 0;  ///< … of those that have a Release, left out or not
};

/// All times are kept ones, but for those of Release and Held::wait. Immutable, hence thread-safe.
class Waits {
  public:
    Waits() = default;
    /// In the windows of calls that say who waits for whom (score::Report::wait_windows). Nothing: the run has an impossible
    /// length. O(n log n) for n calls and waits in the timelines.
    static std::optional<Waits> of(const trace::TraceInfo& info, const score::Report& report);
    /// Those in the windows of all calls, which are some of these or the same, by `time`, which keeps them. O(n log n).
    Waits within(const KeptTime& time) const;

    /// The run, from its first call to its last one.
    static Interval span(const score::Report& report);
    const samples::Windows& windows() const { return windows_; }

    const KeptTime& time() const { return time_; }
    /// In the order of time; empty: nothing, or it is not known.
    std::span<const Held> of_thread(std::size_t thread, Held::By by) const {
        const auto& threads = by_[static_cast<std::size_t>(by)];
        return thread < threads.size() ? std::span{threads[thread]} : std::span<const Held>{};
    }
    /// Of each wait the one who ended it: the last of those it was for, if the wait is known up to its end. At most `most`.
    Releases releases(std::size_t most) const;
    bool any(Held::By by) const {
        return std::ranges::any_of(by_[static_cast<std::size_t>(by)],
                                   [](const std::vector<Held>& waits) { return !waits.empty(); });
    }

  private:
    using ByThread = std::vector<std::vector<Held>>;

    samples::Windows windows_;
    KeptTime time_;
    std::array<ByThread, Held::kBys.size()> by_;
};

}  // namespace rdam::hints
