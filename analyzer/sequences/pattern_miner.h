// The patterns among the siblings of one thread: the calls at its top level, and the children of each
// distinct sequence (docs/analyzer.md, point 6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/sequences/pattern_store.h"

namespace rdam::sequences {

// When each of many siblings began and ended, in some 8.5 bytes each.

/// In ticks, on a clock that stops while the recorder works.
struct SiblingTime {
    static constexpr std::uint64_t kUnknown = UINT64_MAX;

    std::uint64_t begin = 0;
    std::uint64_t end = kUnknown;

    bool known() const { return end != kUnknown; }
    friend bool operator==(const SiblingTime&, const SiblingTime&) = default;
};

/// The recorder, or another thread of the program, had the processor meanwhile.
struct SiblingPauses {
    bool before = false;  ///< since the sibling before ended
    bool inside = false;

    friend bool operator==(const SiblingPauses&, const SiblingPauses&) = default;
};

/// Exact for every pair of times; siblings that follow one another within 2³² ticks and do not last longer
/// take the least room. Not thread-safe.
class SiblingTimes {
  public:
    void reserve(std::size_t count);
    std::size_t size() const { return cells_.size(); }

    void push_back(const SiblingTime& time, const SiblingPauses& pauses = {});
    /// Forgets those behind the first `size`.
    void shrink(std::size_t size);
    /// Instead of the last one.
    void replace_back(const SiblingTime& time, const SiblingPauses& pauses = {});

    bool known(std::size_t at) const { return cells_[at].duration != kUnknownDuration; }
    /// Whether all of the `count` from `first` on are.
    bool known(std::size_t first, std::size_t count) const;
    SiblingTime operator[](std::size_t at) const {
        const Cell& cell = cells_[at];
        if (cell.duration >= kFarDuration) return beyond_cells(at);
        const std::uint64_t begin = bases_[at / kBlock] + cell.begin;
        return {begin, begin + cell.duration};
    }
    SiblingTime back() const { return (*this)[size() - 1]; }
    SiblingPauses pauses(std::size_t at) const;
    /// Between the beginning of the one and the end of the other, which is not before it.
    bool paused_between(std::size_t first, std::size_t last) const;

  private:
    struct Cell {
        std::uint32_t begin;  ///< behind the base of its block
        std::uint32_t duration;
    };
    /// The times of a sibling that do not fit into a cell.
    struct Far {
        std::size_t at = 0;
        SiblingTime time;
    };
    static constexpr std::size_t kBlock = 16;
    static constexpr std::uint32_t kUnknownDuration = UINT32_MAX;
    static constexpr std::uint32_t kFarDuration = UINT32_MAX - 1;
    static constexpr std::uint64_t kNoBase = UINT64_MAX;

    SiblingTime beyond_cells(std::size_t at) const;

    // Of a sibling's pauses, those before it have twice its number, those inside it one more.
    static std::size_t before(std::size_t at) { return 2 * at; }
    static std::size_t inside(std::size_t at) { return 2 * at + 1; }

    LargeVector<Cell> cells_;
    LargeVector<std::uint64_t> bases_;  ///< the begin of the first sibling of each block that is known
    std::vector<Far> far_;              ///< in their order
    std::vector<std::size_t> pauses_;   ///< likewise
};

class PatternTimesSink {
  public:
    virtual ~PatternTimesSink() = default;
    struct Occurrence {
        PatternId pattern = 0;
        std::uint64_t duration = 0;  ///< from the beginning of its first call to the end of its last one
        bool timed = false;          ///< all of its calls are
        bool held = false;           ///< there was a pause in it
    };
    virtual void occurred(const Occurrence& occurrence) = 0;
};

/// Memory: 12.5 bytes for each sibling in the lists that are open, 8 and a hash of its pairs more while one
/// is mined; what is found in a distinct sequence is kept, up to kMaxKept occurrences in all, and found anew
/// each time beyond. Not thread-safe.
class PatternMiner {
  public:
    static constexpr std::size_t kMaxKept = std::size_t{1} << 24;

    PatternMiner(const SequenceStore& sequences, bool fold_loops, PatternTimesSink& sink);

    /// There may be so many siblings at the top level: a list that grows step by step is copied, and its
    /// memory put in place, twice. Takes addresses, not memory.
    void expect(std::uint64_t siblings);

    /// For how many ticks the thread had been held when a call began, and when it ended.
    struct Paused {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
    };
    void open() { open_.push_back({.first = siblings_.size()}); }
    /// The innermost open call has ended.
    void close(ShapeId shape, const SiblingTime& time, const Paused& paused);
    /// The innermost open calls never ended; `shapes` are the shapes of abandoned calls of their functions,
    /// outermost first. As SequenceBuilder::abandon().
    void abandon(std::span<const ShapeId> shapes);
    /// Calls are missing at the top level.
    void gap();
    void finish();

    const PatternStore& patterns() const { return store_; }

  private:
    /// The siblings of all open lists, one list after the other; the top level's comes first.
    struct Siblings {
        LargeVector<ShapeId> shapes;  ///< of a list that has been mined: nothing of use
        SiblingTimes times;

        std::size_t size() const { return shapes.size(); }
        void shrink(std::size_t size) {
            shapes.resize(size);
            times.shrink(size);
        }
    };
    struct Open {
        std::size_t first = 0;     ///< its first child
        std::uint64_t paused = 0;  ///< when the last of its children ended
    };
    /// The innermost one.
    struct List {
        std::size_t first = 0;
        bool all_known = true;
    };

    struct Occurrence {
        PatternId pattern = 0;
        std::uint32_t first = 0;
        std::uint32_t last = 0;
    };
    struct Kept {
        std::uint64_t first = 0;
        std::uint32_t count = 0;
        bool known = false;
    };

    void append(ShapeId shape, const SiblingTime& time, const SiblingPauses& pauses);
    List list_from(std::size_t first) const;
    void tell_patterns(ShapeId shape, std::size_t first_child);
    void tell(const Occurrence& each, const List& list);
    void mine(const List& list, Kept* kept);
    void mine_top();

    const SequenceStore& sequences_;
    bool fold_loops_;
    PatternTimesSink& sink_;
    PatternStore store_;
    std::vector<Open> open_;
    std::uint64_t top_paused_ = 0;  // when the last call at the top level ended
    Siblings siblings_;
    std::vector<Occurrence> kept_;
    std::vector<Kept> of_shape_;
};

}  // namespace rdam::sequences
