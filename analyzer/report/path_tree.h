// Where the time went: the paths by which functions were called, over all threads of a process.
//
// A path is a call with the calls that were open around it, as calls::Matcher sees them: a tail call is a
// child of the call that opened its frame, a call behind a jump may be inside the calls that were jumped out
// of, calls of ignored functions are not there. Functions that are sampled in windows are leaves: what they
// call hangs where they hang, as only some of their calls are recorded.
//
// What adds up, for each function, over its nodes (the scores' own definitions, report.h):
//
//     Σ calls = FunctionRow::occurrences          Σ lost_ns = FunctionRow::lost_ns
//     Σ lost_self_ns = FunctionRow::rdam_self × Report::threads_ns
//
// so that Σ lost_self_ns over the tree is what all calls lost outside of the calls in them: the sizes of an
// icicle of lost time are those sums over subtrees. As lost_ns is that of whole calls, nested calls count one
// loss several times: it adds up only over nodes that are not inside one another. Times are recorded ones
// (net), of sampled call trees with the trees' weights, of calls in windows as many as they stand for; only
// calls that were seen to begin and end at possible times have one.
//
// A function with one baseline for calls on several paths may have calls within a step of the clock below it.
// A node is never below 0: the others are lowered instead, and the sums hold. With a percentile as the
// baseline, what each of several paths lost is approximate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rdam::score {

struct PathNode {
    static constexpr std::uint32_t kRoot = UINT32_MAX;      ///< not a function: what threads begin with
    static constexpr std::uint32_t kElsewhere = kRoot - 1;  ///< not a function: PathTree::left_out

    std::uint32_t parent = 0;  ///< index into PathTree::nodes, below the node's own; of the root its own
    std::uint32_t function = kRoot;  ///< index into TraceInfo::functions
    double calls = 0;                ///< entered, recursive and unscored ones included
    double time_ns = 0;              ///< Σ net durations, of the calls inside too
    double self_ns = 0;       ///< … outside of the calls inside; without those where that is not known
    double lost_ns = 0;       ///< of outermost calls: 0 in a node inside one of its own function
    double lost_self_ns = 0;  ///< of self times, of all calls
};

struct PathTree {
    std::vector<PathNode> nodes;  ///< the root first, parents before their children; none: not asked for
    /// Calls (recorded ones) on paths for which there was no room (ResolvedSettings::most_paths). They are in
    /// nodes of their function below an ancestor of the path, or below a child of the root, kElsewhere.
    std::uint64_t left_out = 0;
    /// Calls of which it was not kept, for the same reason, of which sequence how many were on which path:
    /// the loss of their sequences is divided among their paths by their time and number.
    std::uint64_t approximate = 0;
};

/// By node: the sum of `own` over it and all nodes below it.
std::vector<double> subtree_sums(const PathTree& tree, std::vector<double> own);

/// By node: whether it is one of the `most` heaviest, whose ancestors are, too. `weights`: of whole subtrees,
/// finite, none heavier than the one around it.
std::vector<bool> heaviest(const PathTree& tree, const std::vector<double>& weights, std::size_t most);

}  // namespace rdam::score
