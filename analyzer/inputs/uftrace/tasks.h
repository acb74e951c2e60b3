// The file `task.txt`: the processes and threads, and the programs that they executed.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/inputs/uftrace/folder.h"
#include "tools/base/result.h"
#include "tools/trace/event.h"

namespace rdam::inputs::uftrace {

/// A library that was opened while the program ran.
struct OpenedLibrary {
    std::uint64_t time = 0;
    std::uint64_t base = 0;
    std::string path;
};

/// A program from its start or execve() to the next. Names its memory map, `sid-<id>.map`.
struct Session {
    std::uint64_t start = 0;
    std::uint32_t pid = 0;
    std::string id;
    std::string executable;
    std::vector<OpenedLibrary> libraries;  ///< in the order of time
};

struct Task {
    /// From `start` on the task ran this session.
    struct Part {
        std::uint64_t start = 0;
        std::uint32_t session = 0;
    };
    std::uint32_t tid = 0;
    std::uint32_t pid = 0;
    std::uint32_t parent = 0;  ///< the process that has forked it; 0: a thread, or the first process
    std::uint64_t start = 0;
    std::vector<Part> parts;
};

/// The session of a task at a time, and until when it stays the same (exclusive).
struct SessionSpan {
    const Session* session = nullptr;  ///< nullptr: not known
    std::uint32_t number = 0;
    std::uint64_t until = std::numeric_limits<std::uint64_t>::max();
};

class Tasks {
  public:
    /// `path` for messages. Errors: a line that is not as uftrace writes it.
    static Result<Tasks> parse(std::string_view text, const std::string& path);

    const std::vector<Session>& sessions() const { return sessions_; }
    const std::vector<Task>& tasks() const { return tasks_; }  ///< in the order of appearance
    SessionSpan session_at(const Task& task, std::uint64_t time) const;

  private:
    friend class TaskLines;
    const Task* find(std::uint32_t tid) const;

    std::vector<Session> sessions_;
    std::vector<Task> tasks_;
    std::map<std::uint32_t, std::size_t> by_tid_;
};

// The scheduler's events, `perf-cpu*.dat`: records of perf_event_open(2), each file those of a processor.

/// A thread leaves a processor, or comes to it.
struct Switch {
    std::uint64_t time = 0;
    std::uint16_t processor = trace::kNoCpu;
    bool out = false;
    bool preempted = false;  ///< if `out`: it could have gone on
};

/// What the scheduler says of a thread.
struct Schedule {
    std::vector<Switch> switches;  ///< in the order of time
    std::optional<std::uint64_t> began;
    std::optional<std::uint64_t> ended;
    std::string name;  ///< the last; empty: not told
};

struct Schedules {
    std::unordered_map<std::uint32_t, Schedule> by_tid;
    std::uint64_t lost = 0;      ///< records for which the kernel had no room
    std::uint64_t unpaired = 0;  ///< a thread left a processor twice, or came to one twice
};

std::string switches_file(std::uint32_t processor);

/// Errors: a file that ends within a record, or has something else.
Result<Schedules> read_schedules(const Folder& folder);

/// The times between an out and the next in.
std::vector<trace::OffCpu> absences(const std::vector<Switch>& switches);

}  // namespace rdam::inputs::uftrace
