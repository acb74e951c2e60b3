// What a function, a thread's calls of it, a sequence, a pattern and a process have in common: a score.
#pragma once

#include <cstdint>

namespace rdam::score {

/// For a group of calls with durations d in a thread with life T: rdam = lost / T, lost = Σ (d − min d)
/// (M. S. Mosli Bouksiaa, thesis, ch. 4). Scores are shares of a thread's life, 0…1; times are nanoseconds.
struct Scored {
    double rdam = 0;
    /// The 95 % interval of `rdam` (analyzer/statistics/loss.h).
    double rdam_low = 0, rdam_high = 0;
    /// What constant work would score (analyzer/statistics/floor.h); 0: not known.
    double floor = 0;
    std::uint64_t occurrences = 0;
    double lost_ns = 0;
    /// Of the scored calls; all 0 if there are none.
    double min_ns = 0, median_ns = 0, p99_ns = 0, max_ns = 0;
    /// `occurrences` is an estimate.
    bool estimated = false;
    /// The true score may be higher.
    bool lower_bound = false;
    /// A few calls are far faster than all the others (analyzer/statistics/loss.h).
    bool minimum_alone = false;
    /// Something was lost, and no more than Report::agent_bound_ns: it may have been the recorder's doing.
    bool maybe_recorder = false;
    /// Too little was seen in windows: score and loss are 0, and not known.
    bool few_windows = false;
    /// No call was scored, or which ends are whose is not known: score and loss are 0, and mean nothing.
    bool no_score = false;

    bool unknown() const { return few_windows || no_score; }
};

}  // namespace rdam::score
