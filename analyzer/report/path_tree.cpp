#include "analyzer/report/path_tree.h"

#include <algorithm>
#include <numeric>

namespace rdam::score {

std::vector<double> subtree_sums(const PathTree& tree, std::vector<double> own) {
    for (std::size_t i = own.size(); i-- > 1;)
        own[tree.nodes[i].parent] += own[i];
    return own;
}

std::vector<bool> heaviest(const PathTree& tree, const std::vector<double>& weights, std::size_t most) {
    std::vector<std::size_t> order(tree.nodes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Parents come before their children, and of equal ones the first stays: so the ancestors do.
    if (most < order.size())
        std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                         [&](std::size_t a, std::size_t b) {
                             return weights[a] != weights[b] ? weights[a] > weights[b] : a < b;
                         });
    std::vector<bool> kept(order.size());
    for (std::size_t i = 0; i < std::min(most, order.size()); ++i)
        kept[order[i]] = true;
    return kept;
}

}  // namespace rdam::score
