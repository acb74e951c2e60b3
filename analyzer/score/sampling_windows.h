// Functions that are sampled in windows: which calls are a sample of which time, and how to estimate all
// calls from them.
//
// The calls of one window are not independent of each other: windows are clusters of unequal sizes. The sum
// over the calls of a thread's whole life is estimated by the ratio to the size (W. G. Cochran, Sampling
// Techniques, 3rd ed., 1977, chapter 9A, "ratio-to-size estimate", with the variance of a ratio of chapter
// 6). A call belongs to the window in which it begins, however long it lasts.
//
// Where the thread has counted all calls of the function, the size is the number of calls. That says too much
// of calls that take longer in windows than outside: between two probes a processor cannot work ahead, so
// that a call of 6 ns may seem to take 16, and threads meet at a cache line more often. By how much, the
// windows show: of the program's own time in them, fewer calls are made than in the same time outside
// (WindowEstimate::slowing).
//
// Where the thread has not counted them,
// the size is the program's own time: on a processor as far as that is known, without pauses, without what
// the probes cost. For in a window the recorder slows the program down, a function that is called all the
// time many times over. What the probes cost is known badly, so that is much the worse estimate of the two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tools/trace/clock.h"
#include "tools/trace/event.h"

namespace rdam::score {

/// A score needs as many windows with calls.
inline constexpr std::size_t kFewWindows = 5;
/// Up to this part of a life need not be represented by windows at all.
inline constexpr double kNegligibleLife = 0.05;

/// Windows in the order of time, none overlapping.
class WindowList {
  public:
    void add(const trace::Window& window);

    std::size_t size() const { return windows_.size(); }
    const trace::Window& operator[](std::size_t index) const { return windows_[index]; }
    /// The first that ends behind `t`.
    std::size_t first_behind(std::uint64_t t) const;
    /// The time in windows before `t`.
    std::uint64_t covered(std::uint64_t t) const;

  private:
    std::vector<trace::Window> windows_;
    std::vector<std::uint64_t> before_;  ///< Σ of the windows before each
};

/// The windows of a process: of all functions, and by their group.
class WindowTable {
  public:
    /// In the order of time, none overlapping.
    explicit WindowTable(std::span<const trace::Window> windows);

    const WindowList& all() const { return all_; }
    /// Which one of its group's windows the `index`th of all is.
    std::size_t place(std::size_t index) const { return places_[index]; }
    std::size_t groups() const { return groups_.size(); }
    const WindowList& group(std::size_t number) const { return groups_[number]; }

  private:
    WindowList all_;
    std::vector<std::size_t> places_;
    std::vector<WindowList> groups_;
};

/// The windows of one thread. Neighbours of a group are combined into some clusters at most. This bounds the
/// memory and does not harm the estimate: with fewer clusters, only its standard error is less precise.
class ThreadWindows {
  public:
    static constexpr std::size_t kMaxClusters = 256;   ///< of a group, up to kFewGroups
    static constexpr std::size_t kFewerClusters = 64;  ///< … where there are more groups
    static constexpr std::size_t kFewGroups = 4;
    static constexpr std::uint32_t kOutside = UINT32_MAX;

    ThreadWindows() = default;
    ThreadWindows(std::shared_ptr<const WindowTable> table, trace::TickRange life);

    /// The cluster of the window in which a call of a function begins that is sampled since `since`; clusters
    /// that began before do not count for it. kOutside: none. Fast if `t` is near the last one of the group.
    std::uint32_t cluster_at(std::uint64_t t, std::uint32_t group, std::uint64_t since);

    /// A probe at `t` has cost so many ticks.
    void note_probe(std::uint64_t t, double ticks);
    /// The recorder held the thread. In the order of time.
    void note_pause(std::uint64_t begin, std::uint64_t end);
    /// Notes all off-CPU times of the thread, after the pauses. Those outside of its life do not count.
    void note_off_cpu(std::span<const trace::OffCpu> intervals);

    /// The time in each cluster of the group from `begin` to `end`; none in one that began before `since`.
    std::vector<double> lives(trace::TickRange life, std::uint32_t group, std::uint64_t since) const;
    /// Time that was not the program's own in the windows of a cluster; the part of it that probes took.
    double inside(std::uint32_t group, std::size_t cluster) const;
    double probes(std::uint32_t group, std::size_t cluster) const;
    /// What began in the windows of a cluster of the times in which the thread blocked, ticks, and how many.
    double blocked(std::uint32_t group, std::size_t cluster) const;
    std::size_t times_blocked(std::uint32_t group) const;
    /// Time that was not the program's own since `since`, in windows or not: to within a small part of the
    /// life.
    double taken_since(std::uint64_t since) const;
    /// Into how many clusters the windows of the group are divided.
    std::size_t clusters(std::uint32_t group) const {
        return group < groups_.size() ? groups_[group].clusters : 0;
    }
    /// For an archive (tools/base/byte_archive.h): what was noted, once all of it is, of the same windows and life.
    template <class Archive>
    void fields(Archive& archive) {
        const std::size_t bins = taken_.size();
        archive(taken_);
        archive.expect(taken_.size() == bins);
        for (Group& group : groups_) {
            archive(group.inside, group.probes, group.blocked, group.times_blocked);
            for (const std::vector<double>* const each : {&group.inside, &group.probes, &group.blocked})
                archive.expect(each->empty() || each->size() == group.clusters);
        }
    }
    /// Where the first window of a cluster begins, and the last one ends.
    std::uint64_t begin_of(std::uint32_t group, std::size_t cluster) const;
    std::uint64_t end_of(std::uint32_t group, std::size_t cluster) const;

  private:
    struct Group {
        const WindowList* windows = nullptr;
        std::size_t first = 0;
        std::size_t count = 0;
        std::size_t clusters = 0;
        std::size_t last = 0;  ///< that was found
        std::vector<double> inside = {}, probes = {}, blocked = {};
        std::size_t times_blocked = 0;

        std::size_t first_of(std::size_t cluster) const { return first + cluster * count / clusters; }
        std::size_t cluster_of(std::size_t index) const;
    };
    static constexpr std::size_t kBins = 256;

    std::size_t window_at(std::uint64_t t);
    void take(std::uint64_t begin, std::uint64_t end);
    void note_blocked(const trace::OffCpu& interval);
    void take_at(std::uint64_t t, double ticks);
    Group* group_at(std::size_t window, std::size_t& cluster);

    std::shared_ptr<const WindowTable> table_;
    trace::TickRange life_;
    std::vector<Group> groups_;
    std::size_t last_ = 0;       ///< of all windows, that was found
    std::vector<double> taken_;  ///< in each part of the life
    std::vector<trace::Window> pauses_;
};

/// The sum of a function in one cluster.
struct ClusterSum {
    std::uint32_t cluster = 0;
    double calls = 0;
    double time = 0;  ///< Σ of durations

    template <class Archive>
    void fields(Archive& archive) {
        archive(cluster, calls, time);
    }
};

/// Sums by cluster, those with calls.
class ClusterSums {
  public:
    void add(std::uint32_t cluster, double calls, double time);
    void add(const ClusterSums& other);
    std::span<const ClusterSum> sums() const { return sums_; }

    template <class Archive>
    void fields(Archive& archive) {
        archive(sums_);
    }

  private:
    std::vector<ClusterSum> sums_;  ///< rising
};

/// The calls of a function that is sampled in windows, by where they began. Weights are counted
/// (calls::Call).
struct WindowedCalls {
    std::uint64_t before = 0;  ///< before it was sampled
    std::uint64_t inside = 0;  ///< in windows
    ClusterSums clusters;      ///< … by cluster; without times
};

/// How often a thread has called a function in its life, recorded or not.
struct CountedCalls {
    double calls = 0;
    double error = 0;  ///< one standard error; 0: they were counted to the end of its life
};

/// What the thread has last reported; nothing: it has not.
std::optional<std::uint64_t> reported_calls(const trace::FunctionInfo& info, std::uint32_t function,
                                            const trace::ThreadInfo& thread);

/// Nothing: not known. `before`: the number recorded before the function was sampled. If the thread did not
/// report up to the end of its life (it was killed), its own time that is left is assumed to be like that since the
/// function is sampled, but to have no more calls than if it had run all the time; if that is longer, no more than what is known, unless there were
/// kFewWindows windows in it, which then tell more.
std::optional<CountedCalls> counted_calls(const trace::FunctionInfo& info, std::uint32_t function,
                                          const trace::ThreadInfo& thread, trace::TickRange life,
                                          const ThreadWindows& windows, std::uint64_t before);

/// How the calls of a function in a thread stand for all: those before it was sampled for themselves, those
/// in windows for all after it.
class WindowEstimate {
  public:
    /// `life` of the thread.
    static WindowEstimate by_time(const ThreadWindows& windows, trace::TickRange life,
                                  const trace::FunctionInfo& function);
    /// `probe`: what one costs in the flow of a program, as a multiple of what the windows were told.
    static WindowEstimate by_calls(const ThreadWindows& windows, trace::TickRange life,
                                   const trace::FunctionInfo& function, const WindowedCalls& recorded,
                                   const CountedCalls& counted, double probe);

    /// What the calls wait is known of all of them (WaitTimes). Where windows with calls are too few, or show
    /// rather the recorder, the calls in them stand for themselves alone, and the estimate is a lower bound.
    void know_waits(std::size_t clusters_with_calls);

    /// The number of calls that each call in a window stands for.
    double expansion() const { return expansion_; }
    /// The calls of the whole life, when these are recorded, and the variance of that.
    double calls(const WindowedCalls& recorded) const;
    double calls_variance(const WindowedCalls& recorded) const;
    /// Whether the number of calls was counted, not estimated from the recorded ones.
    bool is_counted() const { return counted_.has_value(); }
    /// By how much the program is slower in windows, beyond the cost of probes, which is known to about a
    /// quarter.
    struct Slowing {
        double part = 0;   ///< of its time in windows, 0…1, at least
        double ticks = 0;  ///< of that time, if probes cost what was measured; below 0: it is faster
        double error = 0;  ///< of these: one standard error
    };
    /// Null: too little is known, or the calls were not counted.
    const Slowing* slowing() const { return slowing_ ? &*slowing_ : nullptr; }
    /// The thread's own time on processors since the function is sampled, ticks.
    double own_left() const { return own_left_; }
    /// The part of the life from which every call is known.
    double covered() const { return covered_; }
    /// Whether the calls in windows stand for themselves alone: know_waits().
    bool is_of_few() const { return for_themselves_; }
    /// Whether it makes no difference to the whole.
    bool is_negligible() const { return for_themselves_ || left_ <= kNegligibleLife * whole_; }
    /// Whether there is enough data if so many clusters have calls.
    bool enough(std::size_t clusters_with_calls) const;
    /// The variance of the estimate expansion × Σ y, with y by cluster; missing values are 0. Never below 0.
    double variance(std::span<const double> y) const;
    std::size_t clusters() const { return sizes_.size(); }

  private:
    WindowEstimate(const ThreadWindows& windows, trace::TickRange life, const trace::FunctionInfo& function);
    void expand_to(double rest);
    /// The mean of weighted values.
    class Frequency {
      public:
        void add(double weight, double value);
        double mean() const;
        double variance() const;  ///< of the mean, by the values' differences

      private:
        double weights_ = 0, sum_ = 0, squares_ = 0, weight_squares_ = 0;
    };
    std::optional<Slowing> find_slowing(const ThreadWindows& windows, std::uint32_t group,
                                        trace::TickRange since, std::span<const double> gross,
                                        double probe) const;

    std::vector<double> sizes_;  ///< of the clusters: own time, or calls
    std::size_t seen_ = 0;       ///< clusters in which the thread lived
    double inside_ = 0;          ///< Σ of sizes_
    double whole_ = 0;           ///< all of the thread's life, or all calls
    double left_ = 0;            ///< … since the function is sampled
    double own_left_ = 0;        ///< of that, by time: own_left()
    double error_ = 0;           ///< relative, of expansion_
    double expansion_ = 0;
    double covered_ = 0;
    std::optional<Slowing> slowing_;
    bool for_themselves_ = false;
    bool mostly_probes_ = false;  ///< what was seen of the function is rather the recorder
    std::optional<CountedCalls> counted_;
};

}  // namespace rdam::score
