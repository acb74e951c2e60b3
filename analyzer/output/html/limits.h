// How much of a run the page shows. All are halved until the page is small enough.
#pragma once

#include <algorithm>
#include <cstddef>

namespace rdam::output {

struct PageLimits {
    std::size_t rows = 2000;    ///< of the ranking
    std::size_t detailed = 40;  ///< functions with a section of their own
    std::size_t points = 400;   ///< of each plot
    std::size_t lines = 12;     ///< of each list in a function's section
    std::size_t threads = 64;   ///< rows of the heat map
    std::size_t slices = 1500;  ///< of each timeline
    std::size_t paths = 4000;   ///< of the icicle

    PageLimits halved() const {
        const auto half = [](std::size_t size) { return std::max<std::size_t>(size / 2, 1); };
        return {half(rows),    half(detailed), half(points), half(lines),
                half(threads), half(slices),   half(paths)};
    }
    bool least() const { return rows == 1; }
};

}  // namespace rdam::output
