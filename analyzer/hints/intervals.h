// Sets of times as sorted, disjoint intervals [begin, end).
#pragma once

#include <cstdint>
#include <vector>

namespace rdam::hints {

struct Interval {
    std::uint64_t begin = 0, end = 0;

    friend bool operator==(const Interval&, const Interval&) = default;
};

using Intervals = std::vector<Interval>;

/// Any intervals, in any order.
Intervals united(Intervals intervals);
Intervals intersection(const Intervals& a, const Intervals& b);
/// Σ lengths, in ticks.
double length(const Intervals& intervals);

}  // namespace rdam::hints
