#include "analyzer/sequences/pattern_store.h"

#include <algorithm>

namespace rdam::mining {
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

}  // namespace rdam::mining
