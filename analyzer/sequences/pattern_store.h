// Patterns by their contents: the same calls in the same order are one pattern, whichever pairs it was made
// from.
#pragma once

#include <tsl/robin_set.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/sequences/sequence_store.h"
#include "tools/base/unmovable.h"

namespace rdam::sequences {

// Patterns among siblings: pair replacement as in M. S. Mosli Bouksiaa's thesis, §4.2.5.
//
// Start at the first element and look at the pair of it and its right neighbour. If that pair occurs at least
// twice in the whole sequence, counted from left to right without overlap, replace every such occurrence by a
// new meta-event and stay; otherwise move on by one, until the end. On a b c b d a b e a b c that gives ab (3
// times) and abc (2 times): an occurrence is counted when the meta-event is made, whether or not it
// disappears inside a larger one later.
//
// The occurrences of each pair are kept as a list in the order of the sequence. A replacement shortens the
// sequence by one and changes at most four lists; new pairs contain the new meta-event, are met from left to
// right, and are appended: the time is linear in the length. No occurrence of the pair that one looks at lies
// before it, or one would have stopped there. What is kept for an element is that of Re-Pair (N. J. Larsson
// and A. Moffat, Off-line dictionary-based compression, Proc. IEEE 88, 2000, §3): a symbol and two links; the
// cells that replacements leave empty tell how far it is to the neighbours.

/// A meta-event. Its sides are elements, or earlier meta-events: kFirstMeta + their number.
struct MetaEvent {
    std::uint32_t left = 0;
    std::uint32_t right = 0;
    std::uint32_t length = 0;       ///< in elements of the sequence
    std::uint32_t occurrences = 0;  ///< at least 2
};

inline constexpr std::uint32_t kFirstMeta = std::uint32_t{1} << 31;

/// Hears of every replacement, one meta-event after the other, from left to right.
class ReplacementSink {
  public:
    virtual ~ReplacementSink() = default;
    /// Called before its occurrences are reported.
    virtual void made(std::uint32_t meta, std::uint32_t left, std::uint32_t right) = 0;
    /// Meta-event number `meta` now replaces elements `first` to `last` of the sequence.
    virtual void replaced(std::uint32_t meta, std::uint32_t first, std::uint32_t last) = 0;
};

/// `symbols`: fewer than kFirstMeta, each below kFirstMeta; they are overwritten. Meta-events in the order in
/// which they were made. Takes 8 bytes an element besides a hash of the pairs there are, while it runs.
std::vector<MetaEvent> replace_pairs(std::span<std::uint32_t> symbols, ReplacementSink& sink);

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
class PatternStore : private Unmovable {
  public:
    PatternStore();
    ~PatternStore() = default;

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

// Vectors that grow to hundreds of megabytes. Huge pages (MADV_HUGEPAGE) were tried: where memory is
// fragmented the kernel spends more on making them than small ones cost.

template <class T>
class Unwritten : public std::allocator<T> {
  public:
    Unwritten() = default;
    template <class U>
    explicit Unwritten(const Unwritten<U>&) {}

    /// Elements that need no constructor are not initialized: a caller that requests many writes all of them.
    template <class U>
    void construct(U* place) {
        ::new (static_cast<void*>(place)) U;
    }
    template <class U, class... Values>
    void construct(U* place, Values&&... values) {
        ::new (static_cast<void*>(place)) U(std::forward<Values>(values)...);
    }
};

template <class T>
using LargeVector = std::vector<T, Unwritten<T>>;

}  // namespace rdam::sequences
