// The paths of a report as stacks with weights, for the formats of flame graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/export/format.h"
#include "analyzer/report/path_tree.h"
#include "tools/trace/event.h"

namespace rdam::formats {

/// More paths than this are drawn by no viewer: the lightest are merged.
inline constexpr std::size_t kMostStacks = 50'000;

/// What lies in a path itself, outside of the calls inside. Its frames are the path's nodes from the root's
/// child to `node` and, if `merged`, one more that stands for all of the paths inside that are not listed.
struct Stack {
    std::uint32_t node = 0;    ///< index into PathTree::nodes; 0: no frame
    std::uint64_t weight = 0;  ///< nanoseconds or calls, rounded; not 0
    bool merged = false;
};

/// Nodes' parents come before them. Together they weigh what the tree does, but for the rounding of each.
std::vector<Stack> weighted_stacks(const score::PathTree& tree, PathWeight weight,
                                   std::size_t most = kMostStacks);

/// The nodes from the root's child to `node`; none for the root.
void frames_of(const score::PathTree& tree, std::uint32_t node, std::vector<std::uint32_t>& frames);

/// `module:name` would hide the name: the name alone, or what stands for no function. Untrusted.
std::string frame_name(const trace::TraceInfo& info, const score::PathNode& node);

/// The name of the frame that stands for several paths.
inline constexpr const char* kMergedName = "(other calls)";

}  // namespace rdam::formats
