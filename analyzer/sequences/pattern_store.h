// Patterns by their contents: the same calls in the same order are one pattern, whichever pairs it was made
// from.
#pragma once

#include <tsl/robin_set.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/sequences/pair_replacement.h"
#include "analyzer/sequences/sequence_store.h"

namespace rdam::mining {

using PatternId = std::uint32_t;

/// A side of a pattern: a ShapeId, or kFirstMeta + a PatternId.
using Symbol = std::uint32_t;

struct Pattern {
    Symbol left = 0;
    Symbol right = 0;
    std::uint64_t length = 0;   ///< in calls
    std::uint64_t hash = 0;     ///< of its calls: Σ (shape + 1)·B^(calls behind it) modulo 2^61 − 1
    std::uint64_t power = 0;    ///< B^length
    Symbol unit = 0;            ///< what it repeats, itself if nothing …
    std::uint64_t repeats = 1;  ///< … so many times
};

/// Not thread-safe.
class PatternStore {
  public:
    PatternStore();
    ~PatternStore() = default;
    PatternStore(const PatternStore&) = delete;
    PatternStore& operator=(const PatternStore&) = delete;
    PatternStore(PatternStore&&) = delete;
    PatternStore& operator=(PatternStore&&) = delete;

    /// Hashes only find candidates, which are compared call by call.
    PatternId intern(Symbol left, Symbol right);

    std::size_t size() const { return patterns_.size(); }
    const Pattern& operator[](PatternId id) const { return patterns_[id]; }

    /// The first `most` calls of a pattern.
    std::vector<ShapeId> calls(PatternId id, std::size_t most) const;

    /// `of_shape` renumbers shapes: hashes of patterns of different stores can then be compared.
    std::vector<std::uint64_t> hashes(const std::vector<ShapeId>& of_shape) const;

  private:
    struct Hash {
        const PatternStore* store;
        std::size_t operator()(PatternId id) const { return store->patterns_[id].hash; }
    };
    struct Equal {
        const PatternStore* store;
        bool operator()(PatternId a, PatternId b) const { return a == b || store->same_calls(a, b); }
    };

    bool same_calls(PatternId a, PatternId b) const;

    std::vector<Pattern> patterns_;
    tsl::robin_set<PatternId, Hash, Equal, std::allocator<PatternId>, true> index_;
};

/// A pattern as its parts, repetitions counted: (lock unlock)×64 is one part.
struct PatternPart {
    Symbol symbol = 0;
    std::uint64_t count = 1;

    friend bool operator==(const PatternPart&, const PatternPart&) = default;
};

/// At most `most` parts; then some may be missing at the end.
std::vector<PatternPart> fold(const PatternStore& store, PatternId id, std::size_t most);

/// `(lock unlock)×64 flush`. Long ones end in `…`. Not made safe for a terminal.
std::string pattern_name(const PatternStore& store, PatternId id,
                         const std::function<std::string(ShapeId)>& name);

}  // namespace rdam::mining
