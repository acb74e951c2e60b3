// The calls of one group in one thread, as they stand for all of its calls.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/score/common_sequences.h"
#include "analyzer/score/sampling_windows.h"
#include "analyzer/statistics/distribution.h"
#include "analyzer/statistics/loss.h"
#include "tools/base/unmovable.h"

namespace rdam::score {

/// Calls in two parts: those that count for themselves and, if the function is sampled in windows, those in
/// windows, each of which represents several (WindowEstimate). Refers to the group, which must outlive it.
class PartCalls : private Unmovable {
  public:
    enum class Which : std::uint8_t { outermost, all };

    /// `estimate` is null if the function is not sampled in windows. `step`: of the baseline.
    PartCalls(const ThreadGroup& part, const WindowEstimate* estimate, Which which, std::uint64_t step);
    ~PartCalls() = default;

    bool empty() const { return own().count() + sample().count() == 0; }
    /// Recorded calls, at most: of sampled call trees as many as there were.
    std::uint64_t recorded() const;
    double calls() const;  ///< estimated
    double time() const;   ///< Σ of their durations
    /// `process`: of all threads.
    Base base(const Baseline& baseline, const Least& process) const;
    double lost(const Base& base) const;
    /// With what varies from run to run, and without variance(), which is for the whole function to add.
    Loss loss(const Base& base) const;

    /// The variance of lost() caused by sampling call trees and windows.
    double variance(const Base& base) const { return tree_variance(base) + window_variance(base); }
    double tree_variance(const Base& base) const;
    double window_variance(const Base& base) const;
    /// Adds what was lost in each cluster of windows.
    void add_clusters(const Base& base, std::vector<double>& lost) const;

    const Distribution& own() const { return own_.calls(); }
    const Distribution& sample() const { return sample_.calls(); }

  private:
    /// Recursive calls are kept apart, and calls with pauses; in most groups there are none, and nothing is
    /// copied.
    class Calls {
      public:
        /// `floor`: what calls with pauses took at least.
        Calls(const GroupTimes* times, Which which, std::uint64_t floor);
        const Distribution& calls() const { return merged_.count() > 0 ? merged_ : *calls_; }

      private:
        const Distribution* calls_;
        Distribution merged_;
    };

    const ThreadGroup& part_;
    const WindowEstimate* estimate_;
    Which which_;
    double expansion_ = 1;
    Calls own_;
    Calls sample_;
};

/// SureLeast, over all threads.
Least process_least(std::span<const ThreadGroup> parts, PartCalls::Which which);

}  // namespace rdam::score
