#include "tools/agent/chunks/remarks.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "tools/base/plural.h"

namespace rdam::agent {

namespace {

/// What could not be recorded because it would have taken a system call.
void add_filter_remarks(const shm::Control& control, trace::TraceInfo& info) {
    const auto add = [&info](const shm::ToldCount& count, const char* one, const char* many) {
        const std::uint64_t value = count.hear().value;
        if (value > 0)
            info.remarks.push_back(fmt::format("the program filters its system calls (seccomp): {} {}", value,
                                               value == 1 ? one : many));
    };
    if (control.clockless.load() == shm::kFilterSeen)
        info.remarks.emplace_back(
            "the program filters its system calls (seccomp): nothing is recorded from then on, as the "
            "monotonic clock is a system call");
    if (const std::uint64_t events = control.counterless.hear().value; events > 0)
        info.remarks.push_back(fmt::format(
            "{} events of threads that may not read the time-stamp counter (seccomp's strict mode, "
            "PR_SET_TSC) are not in the trace",
            events));
    add(control.filtered_changes, "change of its libraries (dlopen, dlclose) went unrecorded",
        "changes of its libraries (dlopen, dlclose) went unrecorded");
    add(control.filtered_forks, "process that it forked since is not recorded",
        "processes that it forked since are not recorded");
    add(control.disturbed, "event of a signal handler is not in the trace",
        "events of signal handlers are not in the trace");
}

}  // namespace

void add_remarks(const shm::Control& control, std::uint64_t damaged, trace::TraceInfo& info) {
    const auto dropped = control.dropped.hear();
    const auto lent = control.lent.hear();
    const auto found = control.damaged.hear();
    const auto without_site = control.without_site.hear();
    for (const shm::ToldCount* count :
         {&control.dropped, &control.lent, &control.without_site, &control.counterless,
          &control.filtered_changes, &control.filtered_forks, &control.disturbed})
        if (!count->hear().whole) ++damaged;
    if (found.value != 0 || !found.whole) ++damaged;
    info.dropped = dropped.value;
    for (const trace::ThreadInfo& thread : info.threads)
        info.dropped += thread.dropped;
    if (damaged > 0)
        info.remarks.push_back(
            fmt::format("the trace is damaged: the program wrote into the recorder's memory, which is "
                        "invalid in {} place{}, and events are missing",
                        damaged, plural_ending(damaged)));
    if (lent.value > 0)
        info.remarks.push_back(
            fmt::format("{} events of threads that share their thread-local storage with a process they "
                        "created (clone) are not in the trace",
                        lent.value));
    if (without_site.value > 0)
        info.remarks.push_back(fmt::format(
            "{} calls are not in the trace: functions that are called without a frame of the recorder's "
            "(docs/recorder.md) were called from more than {} places; record fewer functions",
            without_site.value, shm::kCallSites));
    add_filter_remarks(control, info);
    if (control.gave_up.load() == shm::kGaveUp)
        info.remarks.emplace_back(
            "the end of the run is not in the trace: system calls that the recorder needs fail in the "
            "program; allow pidfd_open, poll and futex if they are forbidden (seccomp), or enlarge the "
            "buffers with --buffer (RDAM_BUFFER)");
}

std::string why_dropped(std::uint32_t error) {
    switch (error) {
        case 0:
            return "the buffers were full; make them larger with --buffer (RDAM_BUFFER)";
        case EPERM:
        case EACCES:
        case EINVAL:
        case ENOSYS:
            return fmt::format(
                "the kernel refused memory for more buffers (mprotect or madvise: {}); allow these calls "
                "where they are forbidden (seccomp)",
                std::strerror(static_cast<int>(error)));
        default:
            return "the machine had no memory for more buffers; free some, or record fewer functions";
    }
}

}  // namespace rdam::agent
