#include "tests/unit/analysis/reference_patterns.h"

#include <cstddef>

namespace rdam::test {
namespace {

struct Piece {
    std::uint32_t symbol = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
};

using Row = std::vector<Piece>;

bool is_pair(const Row& row, std::size_t i, const LetterPattern& pair) {
    return i + 1 < row.size() && row[i].symbol == pair.left && row[i + 1].symbol == pair.right;
}

std::size_t count(const Row& row, const LetterPattern& pair) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (!is_pair(row, i, pair)) continue;
        ++found;
        ++i;
    }
    return found;
}

Row replace(const Row& row, std::uint32_t symbol, LetterPattern& pair) {
    Row shorter;
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (!is_pair(row, i, pair)) {
            shorter.push_back(row[i]);
            continue;
        }
        pair.occurrences.emplace_back(row[i].first, row[i + 1].last);
        shorter.push_back({symbol, row[i].first, row[i + 1].last});
        ++i;
    }
    return shorter;
}

}  // namespace

std::vector<LetterPattern> replace_pairs_by_the_letter(const std::vector<std::uint32_t>& symbols) {
    std::vector<LetterPattern> patterns;
    Row row;
    for (std::uint32_t i = 0; i < symbols.size(); ++i)
        row.push_back({symbols[i], i, i});
    for (std::size_t at = 0; at + 1 < row.size();) {
        LetterPattern pair{row[at].symbol, row[at + 1].symbol, {}};
        if (count(row, pair) < 2) {
            ++at;
            continue;
        }
        row = replace(row, kLetterMeta + static_cast<std::uint32_t>(patterns.size()), pair);
        patterns.push_back(std::move(pair));
    }
    return patterns;
}

}  // namespace rdam::test
