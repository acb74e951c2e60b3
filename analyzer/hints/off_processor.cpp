// The thread was not running: it waited for something, or another one ran in its place.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/hints/finders.h"

namespace rdam::hints {

void find_off_processor(const Suspicion& suspicion, Hints& hints) {
    double blocked = 0, preempted = 0;
    for (const score::SampledCall& call : suspicion.row.sample.calls) {
        const double off = call.blocked_ns + call.preempted_ns;
        if (!(off > 0)) continue;
        // The fastest calls may have waited as well: only what is beyond them was lost.
        const double lost = std::min(off, call.lost_ns) * call.weight / suspicion.lost_ns;
        blocked += lost * call.blocked_ns / off;
        preempted += lost * call.preempted_ns / off;
    }
    if (blocked + preempted < kWorthTelling) return;
    const bool waits = blocked >= preempted;
    hints.push_back({.kind = waits ? "blocked" : "preempted",
                     .text = fmt::format("{:.0f} % of the lost time the thread was off the processor ({:.0f} "
                                         "% blocked, {:.0f} % preempted): {}",
                                         100 * (blocked + preempted), 100 * blocked, 100 * preempted,
                                         waits ? "it waits, for a lock, a file or another thread"
                                               : "others compute in its place"),
                     .share = blocked + preempted});
}

}  // namespace rdam::hints
