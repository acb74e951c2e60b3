// The file `task.txt`: the processes and threads, and the programs that they executed.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/result.h"

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

}  // namespace rdam::inputs::uftrace
