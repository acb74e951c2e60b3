// Samples whose weights a viewer can draw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rdam::formats::firefox {

struct Sample {
    std::uint32_t stack = 0;  ///< of Shared
    std::int64_t at = 0;      ///< ns since the run's start
    double weight = 0;        ///< ns, or calls
};

/// Makes weights whole numbers that are not below 0, as what is drawn as wide has no sign; the sums over all
/// threads stay within one as long as they are not below 0.
///
/// A call may be below its baseline by less than a step of the clock. Others on the same path make up for it,
/// later ones if possible, else earlier ones. Where they do not suffice, because the calls that lost
/// something are samples of their own on another path and the rest are merged, all of the thread's are
/// lowered.
class WholeWeights {
  public:
    /// Those of a thread by time; `stacks` are numbered below that. Time and memory linear.
    void make_whole(std::vector<Sample>& samples, std::size_t stacks);

  private:
    void lower(std::vector<Sample>& samples);

    std::vector<double> owed_;  // by stack: what it was given too little; below 0: too much
    double debt_ = 0;           // that no path made up for
};

}  // namespace rdam::formats::firefox
