#include "analyzer/report/bars.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace rdam::score {

std::vector<Bar> bars_of(const Distribution& durations, double ns_per_tick, std::size_t count) {
    std::vector<Bar> bars;
    if (durations.count() == 0) return bars;
    const double low = static_cast<double>(std::max<std::uint64_t>(durations.min(), 1));
    const double high = std::max(static_cast<double>(durations.max()) + 1, low + 1);
    const auto edge = [&](std::size_t i) {
        return low * std::pow(high / low, static_cast<double>(i) / static_cast<double>(count));
    };
    std::uint64_t below = 0;
    for (std::size_t i = 1; i <= count; ++i) {
        const std::uint64_t until =
            i == count ? durations.count()
                       : durations.count_below(static_cast<std::uint64_t>(std::ceil(edge(i))));
        bars.push_back({edge(i - 1) * ns_per_tick, edge(i) * ns_per_tick, until - below});
        below = until;
    }
    return bars;
}

}  // namespace rdam::score
