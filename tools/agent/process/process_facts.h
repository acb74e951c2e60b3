// What /proc and the kernel know of a process and the machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// What a clock of the kernel's says, in nanoseconds.
std::uint64_t now_ns(clockid_t clock);

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

// What a process calls itself: many servers write over their command line what each of their processes is
// for.

/// Blanks and zeroes at its ends and the zeroes between its words taken away. `cmdline` as /proc/PID/cmdline.
std::string title_text(std::string cmdline);

/// The words with which both begin; all of `one` if there is none. What a process does at the moment
/// stands at the end of its title.
std::string common_title(const std::string& one, const std::string& other);

/// Not thread-safe.
class ProcessTitle {
  public:
    ProcessTitle(std::uint32_t pid, const std::vector<std::string>& command);

    /// Looks at what the process, which may have become another program or have gone, calls itself now; at
    /// most once a second, or at once.
    void look(bool at_once = false);

    /// The common part of all titles seen; empty: the process is named by its command line.
    const std::string& text() const { return text_; }

  private:
    std::uint32_t pid_;
    std::string command_;
    std::uint64_t stack_start_ = 0;
    std::uint64_t looked_ns_ = 0;
    std::string text_;
};

// The processor time that the agent itself takes.

/// Keeps `info` up to date from the moment at which the program begins to run. Not thread-safe.
class AgentUsage {
  public:
    /// `others`: the seconds that processes of its have used so far.
    AgentUsage(trace::AgentInfo& info, std::function<double()> others);

    /// Cheap enough for every look at the program's work.
    void note();
    /// From now on the agent disturbs nobody.
    void program_ended();

  private:
    double used() const;

    trace::AgentInfo& info_;
    std::function<double()> others_;
    double before_;  ///< seconds that were used while the program waited for its plan
    bool running_ = true;
};

}  // namespace rdam::agent
