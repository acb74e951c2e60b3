#include "tools/agent/write/remarks.h"

#include <fmt/format.h>

namespace rdam::agent {

void add_remarks(const shm::Control& control, std::uint64_t damaged, trace::TraceInfo& info) {
    const auto dropped = control.dropped.hear();
    const auto lent = control.lent.hear();
    const auto found = control.damaged.hear();
    if (!dropped.whole || !lent.whole) ++damaged;
    if (found.value != 0 || !found.whole) ++damaged;
    info.dropped = dropped.value;
    for (const trace::ThreadInfo& thread : info.threads)
        info.dropped += thread.dropped;
    if (damaged > 0)
        info.remarks.push_back(fmt::format(
            "the trace is damaged: the program has written into the recorder's memory, which made no "
            "sense in {} place{}, and events are missing",
            damaged, damaged == 1 ? "" : "s"));
    if (lent.value > 0)
        info.remarks.push_back(fmt::format(
            "{} events of threads that share their storage with a process they have made (clone) are not in "
            "the trace",
            lent.value));
    if (control.gave_up.load() == shm::kGaveUp)
        info.remarks.emplace_back(
            "the end of the run is not in the trace: system calls that the recorder needs fail in the "
            "program; allow "
            "pidfd_open, poll and futex where they are forbidden (seccomp), or give more with --buffer "
            "(RDAM_BUFFER)");
}

}  // namespace rdam::agent
