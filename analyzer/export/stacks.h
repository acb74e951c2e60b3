// The paths of a report as stacks with weights, for the formats of flame graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/export/format.h"
#include "analyzer/report/report.h"
#include "tools/trace/event.h"

namespace rdam::exports {

/// More paths than this are drawn by no viewer: the lightest are merged.
inline constexpr std::size_t kMaxStacks = 50'000;

/// What lies in a path itself, outside of the calls inside. Its frames are the path's nodes from the root's
/// child to `node` and, if `merged`, one more that stands for all of the paths inside that are not listed.
struct Stack {
    std::uint32_t node = 0;    ///< index into PathTree::nodes; 0: no frame
    std::uint64_t weight = 0;  ///< nanoseconds or calls, rounded; not 0
    bool merged = false;
};

/// Nodes' parents come before them. Together they weigh what the tree does, but for the rounding of each.
std::vector<Stack> weighted_stacks(const score::PathTree& tree, PathWeight weight,
                                   std::size_t most = kMaxStacks);

/// The nodes from the root's child to `node`; none for the root.
void frames_of(const score::PathTree& tree, std::uint32_t node, std::vector<std::uint32_t>& frames);

/// `module:name` would hide the name: the name alone, or what stands for no function. Untrusted.
std::string frame_name(const trace::TraceInfo& info, const score::PathNode& node);

/// The name of the frame that stands for several paths.
inline constexpr const char* kMergedName = "(other calls)";

}  // namespace rdam::exports

// Samples whose weights a viewer can draw.

namespace rdam::exports::firefox {

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
    /// `samples`: those of a thread, by time; numbers of stacks are below `stacks`. Time and memory are linear.
    void make_whole(std::vector<Sample>& samples, std::size_t stacks);

  private:
    void lower(std::vector<Sample>& samples);

    std::vector<double> owed_;  // by stack: what it was given too little; below 0: too much
    double debt_ = 0;           // that no path made up for
};

}  // namespace rdam::exports::firefox
