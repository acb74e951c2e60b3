#include "analyzer/hints/intervals.h"

#include <algorithm>

namespace rdam::hints {

Intervals united(Intervals intervals) {
    std::ranges::sort(intervals, {}, &Interval::begin);
    Intervals all;
    for (const Interval& each : intervals) {
        if (each.begin >= each.end) continue;
        if (!all.empty() && each.begin <= all.back().end)
            all.back().end = std::max(all.back().end, each.end);
        else
            all.push_back(each);
    }
    return all;
}

Intervals intersection(const Intervals& a, const Intervals& b) {
    Intervals common;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const Interval both{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
        if (both.begin < both.end) common.push_back(both);
        ++(a[i].end < b[j].end ? i : j);
    }
    return common;
}

double length(const Intervals& intervals) {
    double sum = 0;
    for (const Interval& each : intervals)
        sum += static_cast<double>(each.end - each.begin);
    return sum;
}

}  // namespace rdam::hints
