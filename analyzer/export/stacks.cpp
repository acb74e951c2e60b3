#include "analyzer/export/stacks.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rdam::exports {
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
    if (node.function >= info.functions.size()) return "(paths that are not distinguished)";
    const std::string& name = info.functions[node.function].name;
    return name.empty() ? "(no name)" : name;
}

}  // namespace rdam::exports

namespace rdam::exports::firefox {

void WholeWeights::make_whole(std::vector<Sample>& samples, std::size_t stacks) {
    owed_.resize(stacks);
    constexpr double kMost = 9e15;  // a number in JSON is exact up to there
    for (Sample& sample : samples) {
        double& owed = owed_[sample.stack];
        owed = std::clamp(owed + (std::isfinite(sample.weight) ? sample.weight : 0.0), -kMost, kMost);
        sample.weight = std::max(std::floor(owed), 0.0);
        owed -= sample.weight;
    }
    for (auto sample = samples.rbegin(); sample != samples.rend(); ++sample) {
        double& owed = owed_[sample->stack];
        const double back = std::min(sample->weight, std::max(std::ceil(-owed), 0.0));
        sample->weight -= back;
        owed += back;
    }
    lower(samples);
}

void WholeWeights::lower(std::vector<Sample>& samples) {
    double sum = 0;
    for (const Sample& sample : samples) {
        double& owed = owed_[sample.stack];
        if (owed < 0) debt_ -= std::exchange(owed, 0.0);
        sum += sample.weight;
    }
    if (debt_ < 1 || sum < 1) return;
    const double share = std::min(debt_ / sum, 1.0);
    double cut = 0;
    for (Sample& sample : samples) {
        cut += sample.weight * share;
        const double whole = std::min(std::floor(cut), sample.weight);
        cut -= whole;
        debt_ -= whole;
        sample.weight -= whole;
    }
}

}  // namespace rdam::exports::firefox
