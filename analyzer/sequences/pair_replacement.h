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
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rdam::mining {

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

}  // namespace rdam::mining
