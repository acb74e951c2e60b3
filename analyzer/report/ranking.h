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
    at_floor,   ///< constant work would score as much, nothing was lost, or it is not known
};

/// Losses below this (nanoseconds) are rounding errors of estimates.
inline constexpr double kLeastLoss = 0.5;

/// `Row`: a FunctionRow, or the function in several processes.
template <typename Row>
Standing standing(const Row& row) {
    if (!row.by_design.empty()) return Standing::by_design;
    return row.rdam > row.floor && row.lost_ns >= kLeastLoss ? Standing::ranked : Standing::at_floor;
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

/// Sets the ranks of `rows`, which stay where they are: by standing, then by what is known, the lower end of
/// the score's interval, then by the score, then as they come.
template <typename Row>
void rank(std::vector<Row>& rows) {
    std::vector<Row*> order;
    for (Row& row : rows)
        order.push_back(&row);
    std::ranges::stable_sort(order, [](const Row* a, const Row* b) {
        return std::make_tuple(standing(*a), -a->rdam_low, -a->rdam) <
               std::make_tuple(standing(*b), -b->rdam_low, -b->rdam);
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
