#include "analyzer/mining/pair_replacement.h"

#include <tsl/robin_map.h>

#include "analyzer/mining/large_vector.h"

namespace rdam::mining {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

/// An element, or where a meta-event begins. `next` and `prev` are its neighbours, the other two those in the
/// list of its pair (itself and `next`).
struct Node {
    std::uint32_t symbol = 0;
    std::uint32_t next = kNone;
    std::uint32_t prev = kNone;
    std::uint32_t next_same = kNone;
    std::uint32_t prev_same = kNone;
};

struct Occurrences {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
};

struct PairHash {
    std::size_t operator()(std::uint64_t pair) const {
        constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
        const std::uint64_t product = pair * kOdd;
        return product ^ (product >> 32);
    }
};

class Replacement {
  public:
    Replacement(std::span<const std::uint32_t> symbols, ReplacementSink& sink)
        : sink_{sink}, nodes_(symbols.size()) {
        const auto count = static_cast<std::uint32_t>(symbols.size());
        for (std::uint32_t i = 0; i < count; ++i) {
            nodes_[i].symbol = symbols[i];
            nodes_[i].prev = i == 0 ? kNone : i - 1;
            nodes_[i].next = i + 1 == count ? kNone : i + 1;
        }
        for (std::uint32_t i = 0; i + 1 < count; ++i)
            append(i);
    }

    std::vector<MetaEvent> run() {
        std::uint32_t at = nodes_.empty() ? kNone : 0;
        while (at != kNone && nodes_[at].next != kNone) {
            if (occurs_twice(at))
                replace_all(at);
            else
                at = nodes_[at].next;
        }
        return std::move(metas_);
    }

  private:
    std::uint64_t pair_at(std::uint32_t i) const {
        return std::uint64_t{nodes_[i].symbol} << 32 | nodes_[nodes_[i].next].symbol;
    }

    /// Without overlap. Overlapping occurrences follow one another in a run of one symbol; of three at least
    /// two do not overlap.
    bool occurs_twice(std::uint32_t at) const {
        const Node& node = nodes_[at];
        if (node.next_same == kNone) return false;
        return nodes_[node.next_same].next_same != kNone || node.next_same != node.next;
    }

    void replace_all(std::uint32_t at) {
        const auto meta = static_cast<std::uint32_t>(metas_.size());
        const std::uint64_t pair = pair_at(at);
        metas_.push_back({nodes_[at].symbol, nodes_[nodes_[at].next].symbol,
                          length_of(nodes_[at].symbol) + length_of(nodes_[nodes_[at].next].symbol), 0});
        sink_.made(meta, metas_[meta].left, metas_[meta].right);
        for (std::uint32_t i = at; i != kNone;) {
            ++metas_[meta].occurrences;
            i = replace(i, meta);
        }
        forget(pair);
    }

    /// Returns the next occurrence of the pair.
    std::uint32_t replace(std::uint32_t i, std::uint32_t meta) {
        Node& node = nodes_[i];
        const std::uint32_t second = node.next;
        if (node.prev != kNone) unlink(node.prev);
        if (nodes_[second].next != kNone) unlink(second);
        // The list of the pair that is being replaced is forgotten in the end.
        const std::uint32_t following = node.next_same;
        if (following != kNone) nodes_[following].prev_same = kNone;
        node.symbol = kFirstMeta + meta;
        node.next = nodes_[second].next;
        if (node.next != kNone) nodes_[node.next].prev = i;
        if (node.prev != kNone) append(node.prev);
        if (node.next != kNone) append(i);
        const std::uint32_t behind =
            node.next != kNone ? node.next : static_cast<std::uint32_t>(nodes_.size());
        sink_.replaced(meta, i, behind - 1);
        return following;
    }

    std::uint32_t length_of(std::uint32_t symbol) const {
        return symbol < kFirstMeta ? 1 : metas_[symbol - kFirstMeta].length;
    }

    void append(std::uint32_t i) {
        Occurrences& all = occurrences_of(pair_at(i));
        nodes_[i].prev_same = all.last;
        nodes_[i].next_same = kNone;
        (all.last == kNone ? all.first : nodes_[all.last].next_same) = i;
        all.last = i;
    }

    void unlink(std::uint32_t i) {
        const Node& node = nodes_[i];
        if (node.prev_same == kNone || node.next_same == kNone) {
            Occurrences& all = occurrences_of(pair_at(i));
            if (node.prev_same == kNone) all.first = node.next_same;
            if (node.next_same == kNone) all.last = node.prev_same;
        }
        if (node.prev_same != kNone) nodes_[node.prev_same].next_same = node.next_same;
        if (node.next_same != kNone) nodes_[node.next_same].prev_same = node.prev_same;
    }

    /// Runs ask for the same pair again and again.
    Occurrences& occurrences_of(std::uint64_t pair) {
        if (pair != latest_pair_ || latest_ == kNone) {
            const auto next = unused_.empty() ? static_cast<std::uint32_t>(lists_.size()) : unused_.back();
            const auto [entry, added] = pairs_.emplace(pair, next);
            latest_pair_ = pair;
            latest_ = entry->second;
            if (added && unused_.empty())
                lists_.emplace_back();
            else if (added)
                unused_.pop_back();
        }
        return lists_[latest_];
    }

    void forget(std::uint64_t pair) {
        const auto entry = pairs_.find(pair);
        lists_[entry->second] = {};
        unused_.push_back(entry->second);
        pairs_.erase(entry);
        latest_ = kNone;
    }

    ReplacementSink& sink_;
    LargeVector<Node> nodes_;
    std::vector<MetaEvent> metas_;
    tsl::robin_map<std::uint64_t, std::uint32_t, PairHash> pairs_;  // where in lists_
    std::vector<Occurrences> lists_;
    std::vector<std::uint32_t> unused_;  // places in lists_
    std::uint64_t latest_pair_ = 0;
    std::uint32_t latest_ = kNone;
};

}  // namespace

std::vector<MetaEvent> replace_pairs(std::span<const std::uint32_t> symbols, ReplacementSink& sink) {
    return Replacement{symbols, sink}.run();
}

}  // namespace rdam::mining
