// From the trace's clock to nanoseconds.
#pragma once

#include <cmath>

#include "analyzer/trace/event.h"

namespace rdam::trace {

/// Above 0, whatever the trace says; 1 where it says nothing sensible.
inline double nanoseconds_per_tick(const ClockInfo& clock) {
    const double rate = clock.ticks_per_second;
    return std::isfinite(rate) && rate >= 1 ? 1e9 / rate : 1.0;
}

}  // namespace rdam::trace
