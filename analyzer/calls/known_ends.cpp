#include "analyzer/calls/known_ends.h"

#include <algorithm>

namespace rdam::calls {
namespace {

std::uint64_t latest_possible(const trace::TraceInfo& info) {
    std::uint64_t latest = 0;
    for (const trace::ThreadInfo& thread : info.threads) {
        if (thread.end == 0) return UINT64_MAX;
        latest = std::max(latest, thread.end);
    }
    const double second = info.clock.ticks_per_second;
    if (latest == 0 || !(second >= 1 && second < 1e12)) return UINT64_MAX;
    const auto slack = static_cast<std::uint64_t>(second);
    return latest > UINT64_MAX - slack ? UINT64_MAX : latest + slack;
}

}  // namespace

KnownEnds KnownEnds::of(const trace::TraceInfo& info) {
    return {.latest = latest_possible(info), .unwound_unseen = info.process.unwound_unseen};
}

}  // namespace rdam::calls
