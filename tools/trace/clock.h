// The trace's clock: ranges of its ticks, and how they become nanoseconds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tools/trace/event.h"

namespace rdam::trace {

/// Above 0, whatever the trace says; 1 where it says nothing sensible.
inline double nanoseconds_per_tick(const ClockInfo& clock) {
    const double rate = clock.ticks_per_second;
    return std::isfinite(rate) && rate >= 1 ? 1e9 / rate : 1.0;
}

/// Ticks, begin ≤ t < end.
struct TickRange {
    std::uint64_t begin = 0;
    std::uint64_t end = UINT64_MAX;

    bool contains(std::uint64_t t) const { return t >= begin && t < end; }
};

/// Where the time of an export begins, and how long a tick is.
struct TimeScale {
    std::uint64_t origin = 0;
    double ns_per_tick = 1;

    /// Nanoseconds; below 0 for what was before.
    std::int64_t since_origin(std::uint64_t tsc) const {
        constexpr double kFarthest = 9.2e18;
        const double ticks =
            tsc >= origin ? static_cast<double>(tsc - origin) : -static_cast<double>(origin - tsc);
        return std::llround(std::clamp(ticks * ns_per_tick, -kFarthest, kFarthest));
    }
};

/// The run begins with its first thread. A thread whose start was lost does not count.
inline TimeScale time_scale(const TraceInfo& info) {
    std::uint64_t first = UINT64_MAX;
    for (const ThreadInfo& thread : info.threads)
        if (thread.start != 0) first = std::min(first, thread.start);
    return {.origin = first != UINT64_MAX ? first : info.clock.start_tsc,
            .ns_per_tick = nanoseconds_per_tick(info.clock)};
}

}  // namespace rdam::trace
