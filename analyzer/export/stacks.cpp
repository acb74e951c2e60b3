#include "analyzer/export/stacks.h"

#include <algorithm>
#include <cmath>

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

std::vector<double> weights_of(const score::PathTree& tree, PathWeight weight) {
    std::vector<double> weights;
    for (const score::PathNode& node : tree.nodes)
        weights.push_back(weight_of(node, weight));
    return weights;
}

}  // namespace

std::vector<Stack> weighted_stacks(const score::PathTree& tree, PathWeight weight, std::size_t most) {
    const std::vector<double> own = weights_of(tree, weight);
    const std::vector<double> sums = score::subtree_sums(tree, own);
    const std::vector<bool> kept = score::heaviest(tree, sums, most);
    std::vector<double> merged(sums.size());
    std::vector<Stack> stacks;
    const auto add = [&](std::size_t node, double ticks, bool is_merged) {
        if (const std::uint64_t rounded = rounded_weight(ticks); rounded > 0)
            stacks.push_back({static_cast<std::uint32_t>(node), rounded, is_merged});
    };
    for (std::size_t i = 1; i < sums.size(); ++i)
        if (!kept[i] && (tree.nodes[i].parent == 0 || kept[tree.nodes[i].parent]))
            merged[tree.nodes[i].parent] += sums[i];
    for (std::size_t i = 0; i < sums.size(); ++i) {
        if (i > 0 && !kept[i]) continue;
        add(i, own[i], false);
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
