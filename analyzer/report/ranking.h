// The order in which functions are shown: those worth a look come first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

namespace rdam::score {

/// Groups of functions, in the order of their ranks.
enum class Standing : std::uint8_t {
    ranked,     ///< its score says something of the program
    by_design,  ///< it waits for what is to come: the score says how long, and nothing is wrong with that
    at_floor,   ///< constant work would score as much, or it is not known
    little,     ///< it is known that next to nothing was lost
};

/// Losses below this (nanoseconds) are rounding errors of estimates.
inline constexpr double kLeastLoss = 0.5;

/// Scores below this are written as 0.000.
inline constexpr double kLeastScore = 0.0005;

/// What may have scored as much has perhaps lost something.
inline constexpr double kMayBeSome = 0.01;

// `Row`: a FunctionRow, or the function in several processes.

/// The score, but for samples, whose scores are lower bounds: at least what all threads lost on average.
template <typename Row>
double likely_score(const Row& row) {
    return std::max(row.rdam, row.rdam_all);
}

/// Its score says something of the program, however low it is.
template <typename Row>
bool says_something(const Row& row) {
    return row.by_design.empty() && row.rdam > row.floor && row.lost_ns >= kLeastLoss;
}

template <typename Row>
Standing standing(const Row& row) {
    if (!row.by_design.empty()) return Standing::by_design;
    if (!row.unknown() && likely_score(row) < kLeastScore && row.rdam_high < kMayBeSome)
        return Standing::little;
    return says_something(row) ? Standing::ranked : Standing::at_floor;
}

/// The score says no more than that there is a clock and a machine.
template <typename Row>
bool at_floor(const Row& row) {
    return row.rdam > 0 && row.rdam <= row.floor;
}

/// It is known that nothing was lost.
template <typename Row>
bool lost_nothing(const Row& row) {
    return !row.unknown() && row.lost_ns < kLeastLoss;
}

/// What functions of one standing are ordered by: what is known, the lower end of the score's interval. But what may
/// have lost much, of which little is known, does not stand below what has lost hardly anything for sure.
template <typename Row>
double weight_in_ranking(const Row& row) {
    constexpr double kOfLikely = 0.1;
    return std::max(row.rdam_low, kOfLikely * likely_score(row));
}

/// Sets the ranks of `rows`, which stay where they are: by standing, then by weight_in_ranking(), then by the score,
/// then as they come.
template <typename Row>
void rank(std::vector<Row>& rows) {
    std::vector<Row*> order;
    for (Row& row : rows)
        order.push_back(&row);
    std::ranges::stable_sort(order, [](const Row* a, const Row* b) {
        return std::make_tuple(standing(*a), -weight_in_ranking(*a), -a->rdam) <
               std::make_tuple(standing(*b), -weight_in_ranking(*b), -b->rdam);
    });
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i]->rank = i + 1;
}

/// In the order of their ranks, at most `most` (0: all).
template <typename Row>
std::vector<std::reference_wrapper<const Row>> by_rank(const std::vector<Row>& rows, std::size_t most) {
    std::vector<std::reference_wrapper<const Row>> order(rows.begin(), rows.end());
    std::ranges::stable_sort(order, {}, [](const Row& row) { return row.rank; });
    if (most > 0 && most < order.size())
        order.erase(order.begin() + static_cast<std::ptrdiff_t>(most), order.end());
    return order;
}

}  // namespace rdam::score
