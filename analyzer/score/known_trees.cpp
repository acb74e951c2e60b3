#include "analyzer/score/known_trees.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace rdam::score {
namespace {

/// `number(op)` for each of `ops`.
template <class Number>
std::uint64_t hash_of(std::span<const std::uint32_t> ops, const Number& number) {
    std::uint64_t hash = sequences::kHashSeed;
    for (const std::uint32_t op : ops)
        hash = sequences::hash_mix(hash, number(op));
    return hash;
}

}  // namespace

KnownTree KnownTree::of(std::span<const trace::EventColumns::Op> ops, std::span<const std::uint32_t> events,
                        std::span<const std::uint32_t> numbers) {
    KnownTree tree;
    struct Open {
        std::uint32_t function = 0;
        std::uint32_t enter = 0;
        std::uint32_t inside = 0;
        std::uint32_t ended = 0;  ///< calls of the tree before it began
    };
    std::vector<Open> open;
    std::vector<std::vector<std::uint32_t>> children;  // by depth: that ended, of the call that is open there
    for (std::uint32_t i = 0; i < events.size(); ++i) {
        tree.ops.push_back(numbers[events[i]]);
        const trace::Event& event = ops[events[i]].event;
        if (event.kind == trace::EventKind::enter) {
            if (!open.empty()) ++open.back().inside;
            open.push_back({.function = event.function,
                            .enter = i,
                            .inside = 0,
                            .ended = static_cast<std::uint32_t>(tree.calls.size())});
            tree.depth = std::max(tree.depth, static_cast<std::uint32_t>(open.size()));
            if (children.size() < open.size()) children.emplace_back();
            children[open.size() - 1].clear();
            continue;
        }
        const Open ended = open.back();
        open.pop_back();
        const auto place = static_cast<std::uint32_t>(tree.calls.size());
        tree.calls.push_back(
            {.function = ended.function,
             .enter = ended.enter,
             .leave = i,
             .parent = place,
             .inside = ended.inside,
             .nested = place - ended.ended,
             .recursive = std::ranges::find(open, ended.function, &Open::function) != open.end()});
        const std::vector<std::uint32_t>& inside = children[open.size()];
        for (const std::uint32_t child : inside)
            tree.calls[child].parent = place;
        if (!inside.empty()) tree.firsts.emplace_back(tree.calls[inside.front()].leave, ended.enter);
        if (!open.empty()) children[open.size() - 1].push_back(place);
    }
    return tree;
}

void KnownTree::divide() {
    std::map<sequences::GroupId, Places> groups;
    std::map<std::uint32_t, Places> functions;
    for (std::uint32_t place = 0; place < calls.size(); ++place) {
        const Call& call = calls[place];
        if (call.keyed) {
            keyed.push_back(place);
            continue;
        }
        groups[call.group].push_back(place);
        if (!call.recursive) functions[call.function].push_back(place);
    }
    by_begin.resize(calls.size());
    std::iota(by_begin.begin(), by_begin.end(), 0U);
    std::ranges::sort(by_begin, {}, [this](std::uint32_t place) { return calls[place].enter; });
    for (auto& each : groups)
        by_group.push_back(std::move(each.second));
    for (auto& each : functions)
        by_function.push_back(std::move(each.second));
}

void PackTrees::match() {
    lengths_.assign(columns_.size(), 0);
    struct Open {
        std::uint32_t event = 0;
        std::uint32_t function = 0;
    };
    std::vector<Open> open;
    for (std::uint32_t i = 0; i < columns_.size(); ++i) {
        const Op& op = of(i);
        if (op.role == Role::enter) {
            open.push_back({i, op.function});
        } else if (op.role == Role::leave && !open.empty() && open.back().function == op.function) {
            lengths_[open.back().event] = i + 1 - open.back().event;
            open.pop_back();
        } else {
            open.clear();
        }
    }
}

std::vector<std::uint32_t> OpNumbers::of(std::span<const trace::EventColumns::Op> ops) {
    std::vector<std::uint32_t> numbers;
    numbers.reserve(ops.size());
    for (const trace::EventColumns::Op& op : ops) {
        const Key key{.caller = op.event.caller, .function = op.event.function, .kind = op.event.kind};
        numbers.push_back(
            numbers_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second);
    }
    return numbers;
}

KnownTrees::Found KnownTrees::find(std::span<const std::uint32_t> events,
                                   std::span<const std::uint32_t> numbers) {
    const auto number = [&](std::uint32_t event) { return numbers[event]; };
    const auto same = [&](const KnownTree& tree) {
        return std::ranges::equal(tree.ops, events, {}, {}, number);
    };
    const KnownTree*& latest = latest_[(numbers[events.front()] * 31 + events.size()) % latest_.size()];
    if (latest != nullptr && same(*latest)) return {.tree = latest, .is_to_be_learned = false};
    const std::uint64_t hash = hash_of(events, number);
    if (const auto found = by_hash_.find(hash); found != by_hash_.end())
        for (const KnownTree* const tree : found->second)
            if (same(*tree)) return {.tree = latest = tree, .is_to_be_learned = false};
    // Most programs that never do the same again have very many trees.
    const bool is_seen = seen_[hash % kSeen];
    seen_[hash % kSeen] = true;
    return {.tree = nullptr, .is_to_be_learned = is_seen && events_ < kMaxInAll};
}

void KnownTrees::add(KnownTree tree) {
    const std::uint64_t hash = hash_of(tree.ops, std::identity{});
    events_ += tree.ops.size();
    trees_.push_back(std::move(tree));
    by_hash_[hash].push_back(&trees_.back());
}

}  // namespace rdam::score
