#include "analyzer/formats/stacks.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace rdam::formats {
namespace {

double weight_of(const score::PathNode& node, PathWeight weight) {
    const double value = weight == PathWeight::lost   ? node.lost_self_ns
                         : weight == PathWeight::time ? node.self_ns
                                                      : node.calls;
    return std::isfinite(value) ? std::max(value, 0.0) : 0;
}

std::uint64_t rounded_weight(double weight) {
    constexpr double kMax = 9e15;  // a number in JSON is exact up to there
    return static_cast<std::uint64_t>(std::min(weight, kMax) + 0.5);
}

/// By node: its own weight and that of all nodes below it.
std::vector<double> subtree_weights(const score::PathTree& tree, PathWeight weight) {
    std::vector<double> sums(tree.nodes.size());
    for (std::size_t i = sums.size(); i-- > 0;) {
        sums[i] += weight_of(tree.nodes[i], weight);
        if (i > 0) sums[tree.nodes[i].parent] += sums[i];
    }
    return sums;
}

/// Nodes of less weight are left out, so that no more than `most` are not. None is heavier than its parent.
double least_weight(std::vector<double> weights, std::size_t most) {
    if (weights.size() <= most) return 0;
    const auto last = weights.begin() + static_cast<std::ptrdiff_t>(most);
    std::ranges::nth_element(weights, last, std::greater{});
    return std::nextafter(*last, HUGE_VAL);
}

}  // namespace

std::vector<Stack> weighted_stacks(const score::PathTree& tree, PathWeight weight, std::size_t most) {
    const std::vector<double> sums = subtree_weights(tree, weight);
    const double least = least_weight(sums, most);
    std::vector<double> merged(sums.size());
    std::vector<Stack> stacks;
    const auto add = [&](std::size_t node, double ticks, bool is_merged) {
        if (const std::uint64_t rounded = rounded_weight(ticks); rounded > 0)
            stacks.push_back({static_cast<std::uint32_t>(node), rounded, is_merged});
    };
    for (std::size_t i = 1; i < sums.size(); ++i)
        if (sums[i] < least && (tree.nodes[i].parent == 0 || sums[tree.nodes[i].parent] >= least))
            merged[tree.nodes[i].parent] += sums[i];
    for (std::size_t i = 0; i < sums.size(); ++i) {
        if (i > 0 && sums[i] < least) continue;
        add(i, weight_of(tree.nodes[i], weight), false);
        add(i, merged[i], true);
    }
    return stacks;
}

void frames_of(const score::PathTree& tree, std::uint32_t node, std::vector<std::uint32_t>& frames) {
    frames.clear();
    for (; node != 0; node = tree.nodes[node].parent)
        frames.push_back(node);
    std::ranges::reverse(frames);
}

std::string frame_name(const trace::TraceInfo& info, const score::PathNode& node) {
    if (node.function >= info.functions.size()) return "(paths that are not told apart)";
    const std::string& name = info.functions[node.function].name;
    return name.empty() ? "(no name)" : name;
}

}  // namespace rdam::formats
