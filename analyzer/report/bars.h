// A distribution as a histogram.
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/report/report.h"
#include "analyzer/statistics/distribution.h"

namespace rdam::score {

/// `count` bars of equal width on a logarithmic scale, from the least duration (0 counts as one tick) to the
/// greatest. Each edge is off by at most half a bucket of the distribution, 0.8 %. None without calls.
std::vector<Bar> bars_of(const Distribution& durations, double ns_per_tick, std::size_t count);

}  // namespace rdam::score
