// Pair replacement as the thesis's text has it, word by word (§4.2.5), in quadratic time.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace rdam::test {

/// A meta-event. Its sides are symbols, or the numbers of earlier meta-events from kLetterMeta on.
struct LetterPattern {
    std::uint32_t left = 0;
    std::uint32_t right = 0;
    /// First and last element of each, as they were when it was made.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> occurrences;
};

inline constexpr std::uint32_t kLetterMeta = std::uint32_t{1} << 31;

std::vector<LetterPattern> replace_pairs_by_the_letter(const std::vector<std::uint32_t>& symbols);

}  // namespace rdam::test
