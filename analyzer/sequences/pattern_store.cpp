#include "analyzer/sequences/pattern_store.h"

#include <tsl/robin_map.h>

namespace rdam::sequences {

namespace {

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
constexpr std::uint64_t kBase = 0x1d3e2a7b9c5f4613 % kPrime;

__extension__ using Wide = unsigned __int128;

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<Wide>(a) * b;
    const std::uint64_t sum =
        (static_cast<std::uint64_t>(product) & kPrime) + static_cast<std::uint64_t>(product >> 61);
    return sum >= kPrime ? sum - kPrime : sum;
}

std::uint64_t add(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t sum = a + b;
    return sum >= kPrime ? sum - kPrime : sum;
}

bool is_pattern(Symbol symbol) {
    return symbol >= kFirstMeta;
}

/// Walks over the calls of a symbol from left to right, whole patterns at a time where the caller likes.
class Walk {
  public:
    Walk(const PatternStore& store, Symbol symbol) : store_{store}, rest_{symbol} {}

    bool at_end() const { return rest_.empty(); }
    Symbol symbol() const { return rest_.back(); }
    std::uint64_t length() const { return is_pattern(symbol()) ? store_[symbol() - kFirstMeta].length : 1; }
    void skip() { rest_.pop_back(); }
    void open() {
        const Pattern& pattern = store_[symbol() - kFirstMeta];
        rest_.back() = pattern.right;
        rest_.push_back(pattern.left);
    }

  private:
    const PatternStore& store_;
    std::vector<Symbol> rest_;
};

}  // namespace

PatternStore::PatternStore() : index_(0, Hash{this}, Equal{this}) {}

bool PatternStore::same_calls(PatternId a, PatternId b) const {
    if (patterns_[a].hash != patterns_[b].hash || patterns_[a].length != patterns_[b].length) return false;
    Walk one{*this, kFirstMeta + a};
    Walk other{*this, kFirstMeta + b};
    while (!one.at_end()) {
        if (one.symbol() == other.symbol()) {
            one.skip();
            other.skip();
        } else if (one.length() >= other.length() && is_pattern(one.symbol())) {
            one.open();
        } else if (is_pattern(other.symbol())) {
            other.open();
        } else {
            return false;
        }
    }
    return true;
}

PatternId PatternStore::intern(Symbol left, Symbol right) {
    const auto of = [&](Symbol symbol) {
        if (is_pattern(symbol)) return patterns_[symbol - kFirstMeta];
        return Pattern{.length = 1, .hash = std::uint64_t{symbol} + 1, .power = kBase, .unit = symbol};
    };
    const Pattern first = of(left);
    const Pattern second = of(right);
    const auto id = static_cast<PatternId>(patterns_.size());
    Pattern made{.left = left,
                 .right = right,
                 .length = first.length + second.length,
                 .hash = add(multiply(first.hash, second.power), second.hash),
                 .power = multiply(first.power, second.power),
                 .unit = kFirstMeta + id};
    if (first.unit == second.unit) {
        made.unit = first.unit;
        made.repeats = first.repeats + second.repeats;
    }
    patterns_.push_back(made);
    const auto [entry, added] = index_.insert(id);
    if (!added) patterns_.pop_back();
    return *entry;
}

std::vector<ShapeId> PatternStore::calls(PatternId id, std::size_t most) const {
    std::vector<ShapeId> calls;
    for (Walk walk{*this, kFirstMeta + id}; !walk.at_end() && calls.size() < most;) {
        if (is_pattern(walk.symbol())) {
            walk.open();
        } else {
            calls.push_back(walk.symbol());
            walk.skip();
        }
    }
    return calls;
}

std::vector<std::uint64_t> PatternStore::hashes(const std::vector<ShapeId>& of_shape) const {
    std::vector<std::uint64_t> hashes;
    for (const Pattern& pattern : patterns_) {
        const auto of = [&](Symbol symbol) {
            return is_pattern(symbol) ? hashes[symbol - kFirstMeta] : std::uint64_t{of_shape[symbol]} + 1;
        };
        const std::uint64_t power =
            is_pattern(pattern.right) ? patterns_[pattern.right - kFirstMeta].power : kBase;
        hashes.push_back(add(multiply(of(pattern.left), power), of(pattern.right)));
    }
    return hashes;
}

std::vector<PatternPart> fold(const PatternStore& store, PatternId id, std::size_t most) {
    std::vector<PatternPart> parts;
    const auto append = [&](Symbol symbol, std::uint64_t count) {
        if (!parts.empty() && parts.back().symbol == symbol)
            parts.back().count += count;
        else
            parts.push_back({symbol, count});
    };
    for (Walk walk{store, kFirstMeta + id}; !walk.at_end();) {
        const Symbol symbol = walk.symbol();
        const bool repeats = is_pattern(symbol) && store[symbol - kFirstMeta].repeats > 1;
        if (is_pattern(symbol) && !repeats && (parts.empty() || parts.back().symbol != symbol)) {
            walk.open();
            continue;
        }
        if (parts.size() == most && parts.back().symbol != symbol) break;
        if (repeats)
            append(store[symbol - kFirstMeta].unit, store[symbol - kFirstMeta].repeats);
        else
            append(symbol, 1);
        walk.skip();
    }
    return parts;
}

namespace {

constexpr std::size_t kMaxParts = 32;
constexpr std::size_t kLongestPatternName = 400;

/// Repetitions nest no deeper than the logarithm of the length.
void write_name(const PatternStore& store, PatternId id, const std::function<std::string(ShapeId)>& name,
                std::string& text) {
    const auto parts = fold(store, id, kMaxParts + 1);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) text += ' ';
        if (i == kMaxParts || text.size() > kLongestPatternName) {
            text += "…";
            return;
        }
        const PatternPart& part = parts[i];
        if (is_pattern(part.symbol)) {
            text += '(';
            write_name(store, part.symbol - kFirstMeta, name, text);
            text += ')';
        } else {
            text += name(part.symbol);
        }
        if (part.count > 1) text += "×" + std::to_string(part.count);
    }
}

}  // namespace

std::string pattern_name(const PatternStore& store, PatternId id,
                         const std::function<std::string(ShapeId)>& name) {
    std::string text;
    write_name(store, id, name, text);
    return text;
}

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

}  // namespace rdam::sequences
