// What /proc and the kernel know of a process and the machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libprobe/format/shared.h"
#include "tools/trace/event.h"

namespace rdam::agent {

/// From /proc/PID/stat. `stack_start` changes with every exec, `start_ticks` never.
struct ProcessStat {
    bool ended = false;  ///< a zombie
    std::uint32_t parent = 0;
    std::uint64_t start_ticks = 0;
    std::uint64_t stack_start = 0;  ///< 0: the kernel does not show it to us, or the process has ended
};
std::optional<ProcessStat> read_stat(std::uint32_t pid);

std::string thread_name(std::uint32_t pid, std::uint32_t tid);

/// A variable of the environment that the process was started with begins like this and holds `part`.
bool has_variable(std::uint32_t pid, std::string_view begin, std::string_view part = {});

/// Whether `pid` was itself started under librdam.so. A program may have written over its environment (a
/// title): then it has the library among its mappings.
bool is_recorded(std::uint32_t pid);

/// Whether `pid` is recorded in the run of this name, as far as that is to be known. An empty name: in any.
bool is_of_run(std::uint32_t pid, std::string_view run);

/// What `pid` runs was started with an environment that preloads no recorder. False: that is not known.
bool lacks_preload(std::uint32_t pid);

/// The file name of the program that `pid` runs; empty if that is not to be known.
std::string program_name(std::uint32_t pid);

/// `path` is how the dynamic linker knows an object, and may be relative to a directory that the program has
/// left. Returns the kernel's name for the file mapped at `address`, if available.
std::string absolute_path(std::uint32_t pid, const std::string& path, std::uint64_t address);

/// The kernel's name for the file that is mapped between these addresses; empty if that is not to be known.
std::string mapped_file(std::uint32_t pid, std::uint64_t begin, std::uint64_t end);

/// Where an object of the process can be opened, if not at `path`: there is no such file (any more), or it is
/// a name that the process has for one of its descriptors. `executable`: it is the process's program. Empty:
/// at `path`, if at all.
std::string way_to(std::uint32_t pid, const std::string& path, std::uint64_t address, bool executable);

/// pid, host, machine, version…; not the command.
trace::ProcessInfo describe_machine(std::uint32_t pid);

/// One moment by the time-stamp counter and by a clock of the kernel's.
struct Moment {
    std::uint64_t tsc = 0;
    std::uint64_t ns = 0;
};

/// The clock read between two readings of the counter; of several tries the one with the least between them.
Moment read_moment(clockid_t clock);

/// Ticks per second of the time-stamp counter: the kernel's own figure if available (perf's mapping of an
/// event), otherwise measured between construction and result(): the later that is, the better (a millisecond
/// gives it to within some 0.01 %).
class TickRate {
  public:
    explicit TickRate(shm::Clock clock);
    std::uint64_t now() const;  ///< ticks
    double result() const;
    std::uint64_t start_tsc() const { return tsc_; }
    std::uint64_t start_unix_ns() const { return unix_ns_; }

  private:
    shm::Clock clock_;
    double kernel_rate_ = 0;  ///< 0: to be measured
    std::uint64_t tsc_ = 0;
    std::uint64_t monotonic_ns_ = 0;
    std::uint64_t unix_ns_ = 0;
};

}  // namespace rdam::agent
