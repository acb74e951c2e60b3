// When each of many siblings began and ended, in some 8.5 bytes each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/sequences/large_vector.h"

namespace rdam::mining {

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

}  // namespace rdam::mining
