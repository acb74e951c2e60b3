#include "analyzer/output/html/icicle.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/output/html/page_words.h"
#include "analyzer/output/json_parts.h"
#include "analyzer/output/symbols.h"

namespace rdam::output {
namespace {

/// Of each node, as a share of the whole tree, what its subtree lost or took, whichever is more.
std::vector<double> shares_of(const score::PathTree& tree) {
    std::vector<double> lost, time;
    for (const score::PathNode& node : tree.nodes) {
        lost.push_back(std::max(finite(node.lost_self_ns), 0.0));
        time.push_back(std::max(finite(node.self_ns), 0.0));
    }
    lost = score::subtree_sums(tree, std::move(lost));
    time = score::subtree_sums(tree, std::move(time));
    std::vector<double> shares;
    for (std::size_t i = 0; i < lost.size(); ++i)
        shares.push_back(std::max(finite(lost[i] / lost.front()), finite(time[i] / time.front())));
    return shares;
}

/// A tree of fewer nodes: the largest stay, with their ancestors.
class SmallTree {
  public:
    SmallTree(const score::PathTree& tree, std::size_t most)
        : nodes_(tree.nodes), kept_(score::heaviest(tree, shares_of(tree), most)) {}

    /// `use(node, place of its parent, what is its own)`, parents first; of those that are not kept, one for
    /// each parent that is, and null for a node.
    template <class Use>
    void for_each(const Use& use) const {
        std::vector<std::size_t> places(nodes_.size());
        std::map<std::size_t, score::PathNode> rests;  // by place of the parent
        std::size_t next = 0;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            const std::size_t parent = places[nodes_[i].parent];
            if (kept_[i]) {
                use(&nodes_[i], parent, nodes_[i]);
                places[i] = next++;
                continue;
            }
            places[i] = parent;
            score::PathNode& rest = rests[parent];
            rest.calls += nodes_[i].calls;
            rest.self_ns += nodes_[i].self_ns;
            rest.lost_self_ns += nodes_[i].lost_self_ns;
        }
        for (const auto& [parent, rest] : rests)
            use(nullptr, parent, rest);
    }

  private:
    const std::vector<score::PathNode>& nodes_;
    std::vector<bool> kept_;
};

/// The tree while it is made for the page.
class Icicle {
  public:
    explicit Icicle(const PageRun& run) : run_(run) {}

    Json json(const PageLimits& limits) {
        if (run_.analysis.report.paths.nodes.size() < 2) return nullptr;
        const score::PathTree paths = by_caller_names();
        std::vector<std::size_t> places;  // by place in the small tree
        SmallTree{paths, limits.paths}.for_each(
            [&](const score::PathNode* node, std::size_t above, const score::PathNode& own) {
                std::size_t parent = places.empty() ? 0 : places[above];
                if (node != nullptr && node->caller != 0)
                    parent = place_of(parent, callers_[node->caller - 1], true);
                const std::size_t place =
                    place_of(parent, node != nullptr ? name_of(*node) : "(smaller ones)", false);
                if (node != nullptr) places.push_back(place);
                nodes_[place].lost += finite(own.lost_self_ns);
                nodes_[place].time += finite(own.self_ns);
                nodes_[place].calls += finite(own.calls);
            });
        Json parent = Json::array(), name = Json::array(), lost = Json::array(), time = Json::array(),
             calls = Json::array(), callers = Json::array();
        for (const Node& node : nodes_) {
            if (node.calls_others) callers.push_back(parent.size());
            parent.push_back(node.parent);
            name.push_back(node.name);
            lost.push_back(std::round(node.lost));
            time.push_back(std::round(node.time));
            calls.push_back(std::round(node.calls));
        }
        return {{"names", names_.take()},          {"parent", std::move(parent)},
                {"name", std::move(name)},         {"lost", std::move(lost)},
                {"time", std::move(time)},         {"calls", std::move(calls)},
                {"callers", std::move(callers)},   {"left_out", paths.left_out},
                {"approximate", paths.approximate}};
    }

  private:
    struct Node {
        std::size_t parent = 0;
        std::size_t name = 0;
        bool calls_others = false;  ///< it is there for those below
        double lost = 0, time = 0, calls = 0;
    };

    /// PathNode::caller becomes a number in callers_, from 1 on: calls from several places of a function are one node.
    score::PathTree by_caller_names() {
        score::PathTree out;
        std::map<std::string, std::uint64_t> numbers;                // by name
        std::unordered_map<std::uint64_t, std::uint64_t> of_caller;  // by address
        const auto number_of = [&](std::uint64_t caller) {
            const auto [known, is_new_address] = of_caller.try_emplace(caller, 0);
            if (!is_new_address) return known->second;
            std::string name = caller_name(caller);
            const auto [found, is_new] = numbers.try_emplace(name, callers_.size() + 1);
            if (is_new) callers_.push_back(std::move(name));
            return known->second = found->second;
        };
        using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;
        std::map<Key, std::uint32_t> known;
        std::vector<std::uint32_t> places;
        for (const score::PathNode& node : run_.analysis.report.paths.nodes) {
            const std::uint32_t parent = places.empty() ? 0 : places[node.parent];
            const std::uint64_t caller = node.caller != 0 ? number_of(node.caller) : 0;
            const auto [found, is_new] = known.try_emplace(Key{parent, node.function, caller},
                                                           static_cast<std::uint32_t>(out.nodes.size()));
            if (is_new) out.nodes.push_back({.parent = parent, .function = node.function, .caller = caller});
            score::PathNode& to = out.nodes[found->second];
            to.calls += node.calls;
            to.self_ns += node.self_ns;
            to.lost_self_ns += node.lost_self_ns;
            places.push_back(found->second);
        }
        out.left_out = run_.analysis.report.paths.left_out;
        out.approximate = run_.analysis.report.paths.approximate;
        return out;
    }

    std::size_t place_of(std::size_t parent, const std::string& name, bool calls_others) {
        const std::size_t number = names_.of(name);
        const auto [found, is_new] = places_.try_emplace({parent, number, calls_others}, nodes_.size());
        if (is_new) nodes_.push_back({parent, number, calls_others});
        return found->second;
    }

    std::string name_of(const score::PathNode& node) const {
        if (node.function == score::PathNode::kRoot) return "all threads";
        if (node.function == score::PathNode::kElsewhere) return "(other paths)";
        return page_name(run_, node.function);
    }

    std::string caller_name(std::uint64_t caller) {
        const StackFrame frame = run_.symbols.frames(caller).front();
        return page_name(frame.function.empty() ? frame_text(frame) : frame.function);
    }

    const PageRun& run_;
    std::vector<std::string> callers_;
    Names names_;
    std::vector<Node> nodes_;
    std::map<std::tuple<std::size_t, std::size_t, bool>, std::size_t> places_;
};

}  // namespace

Json icicle_json(const PageRun& run, const PageLimits& limits) {
    return Icicle{run}.json(limits);
}

}  // namespace rdam::output
