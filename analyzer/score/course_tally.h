// When each thread's calls were, by bins of the run's time, counted while it is read. What its calls lost is
// known only when the fastest of each group is: so what is kept is how many calls of which group were when.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/score/by_group.h"
#include "tools/trace/clock.h"

namespace rdam::score {

/// Course::kBins.
inline constexpr std::uint32_t kCourseBins = 192;

/// Parts of calls of a group in a bin, weighted. Ticks.
struct CourseCalls {
    std::uint32_t group = 0;
    std::uint32_t bin = 0;  ///< TimeBins; of calls in windows, which stand for more, plus their number
    double calls = 0;
    double time = 0;
};

/// Parts of equal length of a time that is not empty. Whatever is before or after it is in the first or last.
class TimeBins {
  public:
    TimeBins(const trace::TickRange& range, std::uint32_t bins);

    std::uint32_t of(std::uint64_t t) {
        if (t - low_ >= width_) find(t);
        return bin_;
    }
    /// The first tick in it; 0 of the first.
    std::uint64_t begin_of(std::uint32_t bin) const;
    std::uint32_t count() const { return bins_; }
    const trace::TickRange& range() const { return range_; }

  private:
    void find(std::uint64_t t);

    trace::TickRange range_;
    std::uint32_t bins_;
    // The bin of the last answer: low_ ≤ t < low_ + width_.
    std::uint64_t low_ = 0;
    std::uint64_t width_ = 0;
    std::uint32_t bin_ = 0;
};

/// Adds up what comes in the order of time, more or less: for each group, sums of the bin that was the last.
class BinLog {
  public:
    explicit BinLog(std::size_t most) : most_(most) {}

    /// False: there is no room.
    bool add(std::uint32_t group, std::uint32_t bin, double calls, double time) {
        if (group < last_.size() && last_[group] < entries_.size()) {
            CourseCalls& entry = entries_[last_[group]];
            if (entry.bin == bin) {
                entry.calls += calls;
                entry.time += time;
                return true;
            }
        }
        return append(group, bin, calls, time);
    }
    /// Where there is no room, in the group's last bin, whatever that is.
    void add_anyway(std::uint32_t group, std::uint32_t bin, double calls, double time);
    void prefetch(std::uint32_t group) const {
        if (group < last_.size()) __builtin_prefetch(&last_[group]);
    }
    void prefetch_entry(std::uint32_t group) const {
        if (group < last_.size() && last_[group] < entries_.size())
            __builtin_prefetch(&entries_[last_[group]], 1);
    }
    void renumber(const std::vector<std::uint32_t>& numbers);
    /// All that was added. Empty afterwards.
    std::vector<CourseCalls> take();

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    bool append(std::uint32_t group, std::uint32_t bin, double calls, double time);

    std::size_t most_;
    std::vector<CourseCalls> entries_;
    std::vector<std::uint32_t> last_;  // by group: its last entry
};

/// Memory: 24 bytes for each bin of a group, 4 for each group. Not thread-safe.
class CourseTally {
  public:
    /// At most `most` bins of groups; for what comes then, a quarter as many of functions, and one of each.
    CourseTally(const trace::TickRange& range, std::uint32_t bins, std::size_t functions, std::size_t most)
        : bins_(range, bins), functions_(functions), groups_log_(most), rest_log_(most / kRestShare) {}

    /// What an outermost timed call needs to be remembered by.
    struct Time {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        double duration = 0;
        double weight = 1;
        bool in_window = false;  ///< it stands for more
    };
    /// `function` is the group's.
    void add(std::uint32_t group, std::uint32_t function, const Time& call);
    /// As PathTally's.
    void prefetch(std::uint32_t group) const { groups_log_.prefetch(group); }
    void prefetch_entry(std::uint32_t group) const { groups_log_.prefetch_entry(group); }
    void renumber(const std::vector<std::uint32_t>& numbers) { groups_log_.renumber(numbers); }
    /// No more calls.
    void finish();

    const TimeBins& bins() const { return bins_; }
    // After finish(). A group or function may have several entries for a bin.
    const ByGroup<CourseCalls>& calls() const { return calls_; }
    /// … of those that had no room. `group`: a function, or functions() and a function, of calls in windows.
    const ByGroup<CourseCalls>& rest() const { return rest_; }
    std::size_t functions() const { return functions_; }
    std::uint64_t approximate() const { return approximate_; }  ///< Course

  private:
    static constexpr std::size_t kRestShare = 4;

    void add_part(std::uint32_t group, std::uint32_t function, std::uint32_t bin, double part,
                  const Time& call);
    void spread(std::uint32_t group, std::uint32_t function, std::uint32_t first, std::uint32_t last,
                const Time& call);

    TimeBins bins_;
    std::size_t functions_;
    BinLog groups_log_;
    BinLog rest_log_;
    ByGroup<CourseCalls> calls_;
    ByGroup<CourseCalls> rest_;
    std::uint64_t approximate_ = 0;
};

inline void CourseTally::add(std::uint32_t group, std::uint32_t function, const Time& call) {
    const std::uint32_t first = bins_.of(call.begin);
    const std::uint32_t last = bins_.of(call.end);
    if (first < last) return spread(group, function, first, last, call);
    add_part(group, function, last, 1, call);
}

}  // namespace rdam::score
