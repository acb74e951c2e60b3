#include "tools/agent/chunks/trace_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "tools/agent/chunks/output_file.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"

namespace rdam::agent {

namespace {

constexpr double kDescribeSeconds = 1.0;

}  // namespace

bool TraceFile::open() {
    if (writer_) return true;
    if (!error_.empty()) return false;
    name_.tell_events();
    auto file = open_output(wanted_, info_.process);
    if (!file) {
        error_ = file.error().message;
        return false;
    }
    path_ = file->path;
    fd_ = file->fd;
    replaced_ = file->replaced;
    // `rdam record` lists the files of its run itself.
    if (!file->remark.empty() && info_.process.run.empty()) info_.remarks.push_back(file->remark);
    auto writer = trace::TraceWriter::create(file->fd, file->path);
    if (!writer) {
        error_ = writer.error().message;
        return false;
    }
    writer_ = std::move(*writer);
    describe();
    return true;
}

void TraceFile::append(std::uint32_t thread, const trace::Packs& packs) {
    if (!open()) {
        lost_ += packs.events;
        info_.threads[thread].dropped += packs.events;
        return;
    }
    if (const auto done = writer_->append(thread, packs); !done) {
        error_ = done.error().message;
        lost_ += packs.events;
    }
}

void TraceFile::describe() {
    if (!writer_) return;
    const std::uint64_t now = rate_.now();
    info_.clock.ticks_per_second = rate_.result();
    const bool due = described_ == 0 ||
                     static_cast<double>(now - described_) > kDescribeSeconds * info_.clock.ticks_per_second;
    if (!due) return;
    described_ = now;
    if (const auto done = writer_->describe(info_); !done) error_ = done.error().message;
}

/// What others have done to the file while it was being written; empty: nothing.
std::string TraceFile::displaced() const {
    struct stat ours {};
    struct stat there {};
    if (fstat(fd_, &ours) != 0) return {};
    const bool found = stat(path_.c_str(), &there) == 0;
    if (!found && errno != ENOENT && errno != ENOTDIR) return {};
    if (found && ours.st_dev == there.st_dev && ours.st_ino == there.st_ino) return {};
    if (ours.st_nlink == 0)
        return fmt::format("{} was {} while it was being written, and is lost; record again", path_,
                           found ? "replaced" : "deleted");
    return fmt::format("{} was moved while it was being written: the trace is where it was moved to", path_);
}

std::string TraceFile::finish() {
    info_.clock.ticks_per_second = rate_.result();
    std::string text;
    // `rdam record` lists the files of its run itself.
    if (replaced_ && info_.process.run.empty())
        text = "rdam: " + printable(path_) + ": replacing the trace of an earlier run\n";
    for (const std::string& remark : std::span(info_.remarks).subspan(printed_))
        text += "rdam: " + printable(remark) + "\n";
    const std::string lost = fmt::format("{} events could not be written: {}", lost_, error_);
    if (lost_ > 0) info_.remarks.push_back(lost);
    if (writer_) {
        const std::string gone = displaced();
        if (const auto done = writer_->finish(info_); !done)
            error_ = done.error().message;
        else if (!gone.empty())
            error_ = gone;
    }
    if (error_.empty()) return text;
    const std::string& reason = lost_ > 0 ? lost : error_;
    // `rdam record` reports what is missing, even where the program was killed.
    const bool told = name_.tell_failure(reason) && !info_.process.run.empty();
    return told ? text : text + "rdam: " + printable(reason) + "\n";
}

namespace {

/// What could not be recorded because it would have taken a system call.
void add_filter_remarks(const shm::Control& control, trace::TraceInfo& info) {
    const auto add = [&info](const shm::PublishedCount& count, const char* one, const char* many) {
        const std::uint64_t value = count.load().value;
        if (value > 0)
            info.remarks.push_back(fmt::format("the program filters its system calls (seccomp): {} {}", value,
                                               value == 1 ? one : many));
    };
    if (control.clockless.load() == shm::kFilterSeen)
        info.remarks.emplace_back(
            "the program filters its system calls (seccomp): nothing is recorded from then on, as the "
            "monotonic clock is a system call");
    if (const std::uint64_t events = control.counterless.load().value; events > 0)
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
    const auto dropped = control.dropped.load();
    const auto lent = control.lent.load();
    const auto found = control.damaged.load();
    const auto without_site = control.without_site.load();
    for (const shm::PublishedCount* count :
         {&control.dropped, &control.lent, &control.without_site, &control.counterless,
          &control.filtered_changes, &control.filtered_forks, &control.disturbed})
        if (!count->load().intact) ++damaged;
    if (found.value != 0 || !found.intact) ++damaged;
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
