// Who is joined: the C library waits until the word with a thread's id is cleared, as the thread ends.
#include <algorithm>

#include "analyzer/hints/waits_for.h"

namespace rdam::hints {

void add_ends(const score::Report& report, const AddPart& add) {
    const auto threads = threads_by_tid(report);
    for (std::size_t t = 0; t < report.timeline.size(); ++t) {
        for (const samples::OwnedWait& wait : report.timeline[t].waits) {
            if (!wait.joins) continue;
            // Which thread it is matters, not where the C library keeps its id.
            const Wait join{{wait.begin, wait.end}, {}, wait.function, t, "thread"};
            const auto joined = threads.find(wait.owner);
            if (joined == threads.end() || joined->second == Held::kNotKnown || joined->second == t) {
                add(join, join.time, Held::kNotKnown, 0);
                continue;
            }
            const std::uint64_t end =
                std::clamp(report.timeline[joined->second].end, join.time.begin, join.time.end);
            add(join, {join.time.begin, end}, joined->second, 0);
            add(join, {end, join.time.end}, Held::kWoken, 0);
        }
    }
}

}  // namespace rdam::hints
