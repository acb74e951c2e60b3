#include "tools/agent/chunks/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/agent/process/process_facts.h"
#include "tools/trace/open_for_writing.h"
#include "tools/trace/reader.h"
#include "tools/trace/trace_name.h"

namespace rdam::agent {
namespace {

constexpr int kMaxNames = 1000;

bool is_ancestor(const trace::ProcessInfo& other, std::uint32_t pid) {
    for (int depth = 0; depth < 64 && pid > 1; ++depth) {
        const auto stat = read_stat(pid);
        if (!stat) return false;
        if (pid == other.pid && stat->start_ticks == other.start_ticks) return true;
        pid = stat->parent;
    }
    return false;
}

/// The first ancestor of `process`, of an unbroken line, that was started under the recorder.
struct Root {
    std::uint32_t pid;
    std::uint64_t start_ticks;
};

Root root_of_run(const trace::ProcessInfo& process) {
    Root root{process.pid, process.start_ticks};
    auto stat = read_stat(process.pid);
    for (int depth = 0; depth < 64 && stat && stat->parent > 0 && is_recorded(stat->parent); ++depth) {
        const std::uint32_t parent = stat->parent;
        stat = read_stat(parent);
        if (stat) root = {parent, stat->start_ticks};
    }
    return root;
}

/// A trace that this run has already written: by the same process before an exec, by the parent of a fork,
/// under `rdam record` by any process with the same run name, else by any that has begun since this run has:
/// a child that ended before its parent's first event, a program that the same shell started before. Anything
/// else of that name is an older run's and gives way.
bool of_same_run(const std::string& path, const trace::ProcessInfo& process) {
    const auto reader = trace::TraceReader::open(path);
    if (!reader) return false;
    const trace::ProcessInfo& other = reader->info().process;
    if (other.boot_id != process.boot_id || other.host != process.host) return false;
    if (!process.run.empty() && other.run == process.run) return true;
    if (is_ancestor(other, process.pid)) return true;
    return process.run.empty() && other.run.empty() && other.start_ticks >= root_of_run(process).start_ticks;
}

enum class Attempt { opened, taken, failed };

Attempt try_open(const std::string& path, const trace::ProcessInfo& process, OutputFile& out,
                 std::string& error) {
    const auto opened = trace::open_for_writing(path);
    if (!opened) {
        error = opened.error().message;
        return Attempt::failed;
    }
    const int fd = *opened;
    struct stat status {};
    fstat(fd, &status);
    if (trace::look_at_occupant(fd) == trace::Occupant::other) {
        close(fd);
        error = "it is not a trace, and rdam replaces only traces";
        return Attempt::failed;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        return Attempt::taken;
    }
    if (status.st_size > 0) {
        // The reader takes a lock of its own: release ours for that moment, and check again afterwards.
        flock(fd, LOCK_UN);
        const bool same = of_same_run(path, process);
        if (same || flock(fd, LOCK_EX | LOCK_NB) != 0) {
            close(fd);
            return Attempt::taken;
        }
    }
    if (ftruncate(fd, 0) != 0) {
        close(fd);
        error = std::strerror(errno);
        return Attempt::failed;
    }
    out.fd = fd;
    out.path = path;
    out.replaced = status.st_size > 0;
    return Attempt::opened;
}

}  // namespace

std::string name_of_run(const trace::ProcessInfo& process) {
    if (!process.run.empty()) return process.run;
    const Root root = root_of_run(process);
    return fmt::format("{} {} {} {}", process.host, process.boot_id, root.pid, root.start_ticks);
}

Result<OutputFile> open_output(const std::string& wanted, const trace::ProcessInfo& process) {
    OutputFile out;
    std::string error;
    std::string path = wanted;
    for (int number = 1; number <= kMaxNames; ++number) {
        switch (try_open(path, process, out, error)) {
            case Attempt::opened:
                if (path != wanted)
                    out.remark = fmt::format(
                        "the trace of process {} is in {}: {} belongs to another process of the run, or to "
                        "one that still runs",
                        process.pid, path, wanted);
                return out;
            case Attempt::failed:
                return fail("cannot write the trace to {}: {}; name another file with RDAM_OUTPUT or -o",
                            path, error);
            case Attempt::taken:
                path = trace::numbered_name(wanted, process.pid, number);
                break;
        }
    }
    return fail(
        "cannot write the trace to {}: too many of that name; name another file with RDAM_OUTPUT or -o",
        wanted);
}

}  // namespace rdam::agent
