#include "analyzer/calls/matcher.h"

#include "analyzer/calls/matcher_impl.h"

namespace rdam::calls {

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

template class BasicMatcher<CallSink>;

}  // namespace rdam::calls
