#include "analyzer/sequences/pair_replacement.h"

#include <tsl/robin_map.h>

#include "analyzer/sequences/large_vector.h"

namespace rdam::mining {
namespace {

constexpr std::uint32_t kNoPlace = UINT32_MAX;
constexpr std::uint32_t kEmpty = UINT32_MAX;  ///< the symbol of a cell that a meta-event to its left covers

/// Neighbours in the list of the pair that begins here. In the first of a row of empty cells `next` is the
/// first cell behind them, in the last of them `prev` is the one before them.
struct Links {
    std::uint32_t next;
    std::uint32_t prev;
};

struct Occurrences {
    std::uint32_t first = kNoPlace;
    std::uint32_t last = kNoPlace;
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
    Replacement(std::span<std::uint32_t> symbols, ReplacementSink& sink)
        : sink_{sink}, symbols_{symbols}, size_{static_cast<std::uint32_t>(symbols.size())}, links_(size_) {
        for (std::uint32_t i = 0; i + 1 < size_; ++i)
            append(i);
    }

    std::vector<MetaEvent> run() {
        for (std::uint32_t at = 0; at < size_ && after(at) < size_;) {
            if (occurs_twice(at))
                replace_all(at);
            else
                at = after(at);
        }
        return std::move(metas_);
    }

  private:
    /// The right neighbour; size_ at the end.
    std::uint32_t after(std::uint32_t i) const {
        return i + 1 < size_ && symbols_[i + 1] == kEmpty ? links_[i + 1].next : i + 1;
    }

    /// The left neighbour of one that is not the first.
    std::uint32_t before(std::uint32_t i) const {
        return symbols_[i - 1] == kEmpty ? links_[i - 1].prev : i - 1;
    }

    std::uint64_t pair_at(std::uint32_t i) const {
        return std::uint64_t{symbols_[i]} << 32 | symbols_[after(i)];
    }

    /// Without overlap. Overlapping occurrences follow one another in a run of one symbol; of three at least
    /// two do not overlap.
    bool occurs_twice(std::uint32_t at) const {
        const std::uint32_t next = links_[at].next;
        return next != kNoPlace && (links_[next].next != kNoPlace || next != after(at));
    }

    void replace_all(std::uint32_t at) {
        const auto meta = static_cast<std::uint32_t>(metas_.size());
        const std::uint64_t pair = pair_at(at);
        const std::uint32_t right = symbols_[after(at)];
        metas_.push_back({symbols_[at], right, length_of(symbols_[at]) + length_of(right), 0});
        sink_.made(meta, metas_[meta].left, metas_[meta].right);
        for (std::uint32_t i = at; i != kNoPlace;) {
            ++metas_[meta].occurrences;
            i = replace(i, meta);
        }
        forget(pair);
    }

    /// Returns the next occurrence of the pair.
    std::uint32_t replace(std::uint32_t i, std::uint32_t meta) {
        const std::uint32_t second = after(i);
        const std::uint32_t behind = after(second);
        if (i > 0) unlink(before(i));
        if (behind < size_) unlink(second);
        // The list of the pair that is being replaced is forgotten in the end.
        const std::uint32_t following = links_[i].next;
        if (following != kNoPlace) links_[following].prev = kNoPlace;
        symbols_[i] = kFirstMeta + meta;
        symbols_[second] = kEmpty;
        links_[i + 1].next = behind;
        links_[behind - 1].prev = i;
        if (i > 0) append(before(i));
        if (behind < size_) append(i);
        sink_.replaced(meta, i, behind - 1);
        return following;
    }

    std::uint32_t length_of(std::uint32_t symbol) const {
        return symbol < kFirstMeta ? 1 : metas_[symbol - kFirstMeta].length;
    }

    void append(std::uint32_t i) {
        Occurrences& all = occurrences_of(pair_at(i));
        links_[i] = {kNoPlace, all.last};
        (all.last == kNoPlace ? all.first : links_[all.last].next) = i;
        all.last = i;
    }

    void unlink(std::uint32_t i) {
        const Links links = links_[i];
        if (links.prev == kNoPlace || links.next == kNoPlace) {
            Occurrences& all = occurrences_of(pair_at(i));
            if (links.prev == kNoPlace) all.first = links.next;
            if (links.next == kNoPlace) all.last = links.prev;
        }
        if (links.prev != kNoPlace) links_[links.prev].next = links.next;
        if (links.next != kNoPlace) links_[links.next].prev = links.prev;
    }

    /// Runs ask for the same pair again and again.
    Occurrences& occurrences_of(std::uint64_t pair) {
        if (pair != latest_pair_ || latest_ == kNoPlace) {
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
        latest_ = kNoPlace;
    }

    ReplacementSink& sink_;
    std::span<std::uint32_t> symbols_;
    std::uint32_t size_;
    LargeVector<Links> links_;
    std::vector<MetaEvent> metas_;
    tsl::robin_map<std::uint64_t, std::uint32_t, PairHash> pairs_;  // where in lists_
    std::vector<Occurrences> lists_;
    std::vector<std::uint32_t> unused_;  // places in lists_
    std::uint64_t latest_pair_ = 0;
    std::uint32_t latest_ = kNoPlace;
};

}  // namespace

std::vector<MetaEvent> replace_pairs(std::span<std::uint32_t> symbols, ReplacementSink& sink) {
    return Replacement{symbols, sink}.run();
}

}  // namespace rdam::mining
