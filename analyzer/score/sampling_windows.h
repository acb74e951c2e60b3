// Functions that are sampled in windows: which calls are a sample of which time, and how they stand for all.
//
// The calls of one window are not independent of each other: windows are clusters of unequal sizes, the size
// being the part of the thread's life that lies in the window. What calls came to in all of its life is
// estimated by the ratio to that size (W. G. Cochran, Sampling Techniques, 3rd ed., 1977, chapter 9A,
// "ratio-to-size estimate", with the variance of a ratio of chapter 6). A call belongs to the window in which
// it begins, however long it lasts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/score/window.h"
#include "analyzer/trace/event.h"

namespace rdam::score {

/// A score needs as many windows with calls.
inline constexpr std::size_t kFewWindows = 5;
/// Up to this part of a life need not be represented by windows at all.
inline constexpr double kNegligibleLife = 0.05;

/// The windows of a process.
class WindowTable {
  public:
    /// In the order of time, none overlapping.
    explicit WindowTable(std::vector<trace::Window> windows);

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

/// Those of one thread. Neighbours are put together to kMostClusters at most, which bounds what is kept of
/// them and does the estimate no harm: fewer clusters say less precisely how precise it is.
class ThreadWindows {
  public:
    static constexpr std::size_t kMostClusters = 256;
    static constexpr std::uint32_t kOutside = UINT32_MAX;

    ThreadWindows() = default;
    ThreadWindows(std::shared_ptr<const WindowTable> table, TickRange life);

    /// The cluster of the window in which `t` lies; kOutside: in none. Quick if `t` is near that asked for
    /// last.
    std::uint32_t cluster_at(std::uint64_t t);

    /// The time in each cluster from `begin` to `end`.
    std::vector<double> lives(std::uint64_t begin, std::uint64_t end) const;

  private:
    std::size_t clusters() const { return std::min(count_, kMostClusters); }
    std::size_t first_of(std::size_t cluster) const { return first_ + cluster * count_ / clusters(); }

    std::shared_ptr<const WindowTable> table_;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
    std::size_t last_ = 0;  ///< that was found
};

/// Of a function in one cluster.
struct ClusterSum {
    std::uint32_t cluster = 0;
    double calls = 0;
    double time = 0;  ///< Σ of durations
};

/// Sums by cluster, those with calls.
class ClusterSums {
  public:
    void add(std::uint32_t cluster, double calls, double time);
    void add(const ClusterSums& other);
    std::span<const ClusterSum> sums() const { return sums_; }

  private:
    std::vector<ClusterSum> sums_;  ///< rising
};

/// How the calls of a function in a thread stand for all: those before it was sampled for themselves, those
/// in windows for all after it.
class WindowEstimate {
  public:
    /// `life` of the thread; `since` as FunctionInfo::windowed_since.
    WindowEstimate(const ThreadWindows& windows, TickRange life, std::uint64_t since);

    /// Of so many calls each call in a window is one.
    double expansion() const { return expansion_; }
    /// The part of the life from which every call is known.
    double covered() const { return covered_; }
    /// Whether there is enough to go by, if so many clusters have calls.
    bool enough(std::size_t clusters_with_calls) const;
    /// Of the estimate expansion × Σ y, y by cluster; what lies beyond is 0. Never below 0.
    double variance(std::span<const double> y) const;
    std::size_t clusters() const { return lives_.size(); }

  private:
    std::vector<double> lives_;
    std::size_t seen_ = 0;  ///< clusters in which the thread lived
    double inside_ = 0;     ///< Σ of lives_
    double rest_ = 0;       ///< the life that they stand for
    double whole_ = 0;      ///< the thread's
    double expansion_ = 0;
    double covered_ = 0;
};

}  // namespace rdam::score
