#include "analyzer/hints/chains.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

namespace rdam::hints {
namespace {

/// At each moment the waits are a forest: a thread points to the one that it waits for. Each thread knows how many wait
/// for it, so that a change goes up one chain, whatever the number of threads.
class Forest {
  public:
    explicit Forest(std::size_t threads) : nodes_(threads) {}

    /// `counts`: it is no join, whose own time is told of no end.
    void begin(std::size_t thread, std::size_t owner, bool counts, std::uint64_t now) {
        Node& node = nodes_[thread];
        tell(thread, now);
        node.wanted = owner;
        node.own = counts ? 1 : 0;
        const std::size_t last = end_of(owner);
        node.in_circle = last == thread;
        if (node.in_circle) return;
        tell(last, now);
        node.owner = owner;
        nodes_[owner].direct += node.own;
        add(owner, node.waiters + node.own);
    }

    void end(std::size_t thread, std::uint64_t now) {
        Node& node = nodes_[thread];
        tell(thread, now);
        if (std::exchange(node.in_circle, false)) return;
        const std::size_t owner = std::exchange(node.owner, kNobody), last = end_of(owner);
        tell(last, now);
        nodes_[owner].direct -= node.own;
        add(owner, 0 - (node.waiters + node.own));
        // The circle that it was in is none any more.
        if (nodes_[last].in_circle) begin(last, nodes_[last].wanted, nodes_[last].own > 0, now);
    }

    Chains result() && {
        for (std::size_t t = 0; t < nodes_.size(); ++t) {
            if (nodes_[t].times.empty()) continue;
            chains_.ends.push_back({t, std::move(nodes_[t].times), nodes_[t].direct_ticks});
        }
        return std::move(chains_);
    }

  private:
    static constexpr std::size_t kNobody = SIZE_MAX;

    struct Node {
        std::size_t owner = kNobody;   ///< no part of a circle
        std::size_t wanted = kNobody;  ///< while it waits: the one that it waits for
        std::size_t waiters = 0;       ///< directly and through others
        std::size_t own = 0;           ///< 1: its own wait counts
        std::size_t direct = 0;
        std::uint64_t since = 0;  ///< while it is at the end of a chain: up to then all is told
        bool in_circle = false;   ///< it waits for one that waits for it
        std::vector<Steps::Part> times = {};
        double direct_ticks = 0;
    };

    std::size_t end_of(std::size_t thread) const {
        while (nodes_[thread].owner != kNobody)
            thread = nodes_[thread].owner;
        return thread;
    }

    void add(std::size_t thread, std::size_t waiters) {
        for (; thread != kNobody; thread = nodes_[thread].owner)
            nodes_[thread].waiters += waiters;
    }

    /// What was so up to now, of a thread at the end of a chain.
    void tell(std::size_t thread, std::uint64_t now) {
        Node& node = nodes_[thread];
        const Interval time{std::exchange(node.since, now), now};
        if (time.begin >= time.end || node.owner != kNobody) return;
        if (node.in_circle) {
            chains_.circular += time.ticks() * static_cast<double>(node.waiters + node.own);
            return;
        }
        if (node.waiters == 0) return;
        const auto waiters = static_cast<double>(node.waiters);
        node.direct_ticks += time.ticks() * static_cast<double>(node.direct);
        if (!node.times.empty() && node.times.back().time.end == time.begin &&
            node.times.back().value == waiters)
            node.times.back().time.end = time.end;
        else
            node.times.push_back({time, waiters});
    }

    std::vector<Node> nodes_;
    Chains chains_;
};

struct Change {
    std::uint64_t time;
    bool begins;  // at one moment, what ends ends first
    bool counts;
    std::size_t thread, owner;
};

std::vector<Change> changes_of(const Waits& waits, std::size_t threads) {
    std::vector<Change> changes;
    for (std::size_t t = 0; t < threads; ++t)
        for (const Held::By by : Held::kBys)
            for (const Held& part : waits.of_thread(t, by)) {
                if (!part.is_owned() || part.owner == t || part.time.begin >= part.time.end) continue;
                const bool counts = by != Held::By::end;
                changes.push_back({part.time.begin, true, counts, t, part.owner});
                changes.push_back({part.time.end, false, counts, t, part.owner});
            }
    std::ranges::sort(changes, {}, [](const Change& each) { return std::tuple{each.time, each.begins}; });
    return changes;
}

}  // namespace

Chains follow_waits(const Waits& waits, std::size_t threads) {
    Forest forest{threads};
    for (const Change& each : changes_of(waits, threads)) {
        if (each.begins)
            forest.begin(each.thread, each.owner, each.counts, each.time);
        else
            forest.end(each.thread, each.time);
    }
    return std::move(forest).result();
}

}  // namespace rdam::hints
