// The patterns among the siblings of one thread: the calls at its top level, and the children of each
// distinct sequence (docs/analyzer.md, point 6).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/sequences/large_vector.h"
#include "analyzer/sequences/pattern_store.h"
#include "analyzer/sequences/sibling_times.h"

namespace rdam::mining {

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

}  // namespace rdam::mining
