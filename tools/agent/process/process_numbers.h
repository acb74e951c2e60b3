// The numbers of a process and its threads. A process in a PID namespace of its own knows itself and its
// threads by other numbers than those that they have here.
#pragma once

#include <cstdint>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rdam::agent {

/// The words behind `name` in the line of `status`, the text of a status file, that it begins; nothing: no
/// line does.
std::optional<std::istringstream> status_words(const std::string& status, const std::string& name);

/// The numbers of a task, in the namespace of the /proc here first, in its own last (NSpid). `status` is the
/// text of its status file; empty: it does not say.
std::vector<std::uint32_t> parse_numbers(const std::string& status);

/// The numbers of a process. Empty: it is gone, or the kernel does not say.
std::vector<std::uint32_t> numbers_of(std::uint32_t pid);

/// Whether the process is in the PID namespace of this one.
bool shares_pid_namespace(std::uint32_t pid);

/// The numbers here of the process's threads.
std::vector<std::uint32_t> threads_of(std::uint32_t pid);

/// The numbers here of all processes that can be seen.
std::vector<std::uint32_t> all_processes();

/// The children of the process's threads, which have not been adopted by others, where the kernel lists them.
std::vector<std::uint32_t> children_of(std::uint32_t pid);

/// The threads of a process, by the numbers that the process knows them by. Thread-safe.
class ThreadNumbers {
  public:
    /// `pid` is its number here.
    explicit ThreadNumbers(std::uint32_t pid) : pid_(pid), same_(shares_pid_namespace(pid)) {}

    /// Looks for new threads if there are any: so many have been `started`. The number of one that is gone
    /// can no longer be found.
    void look(std::uint32_t started);

    /// The number here of the thread that the process knows as `own`; `own` itself where the namespace is the
    /// same, or the thread was gone before it could be found.
    std::uint32_t here(std::uint32_t own);

  private:
    void find_threads();

    std::uint32_t pid_;
    bool same_;
    std::mutex mutex_;
    std::uint32_t started_ = 0;
    std::unordered_map<std::uint32_t, std::uint32_t> known_;
};

// Small files of the kernel's, read whole.

/// "" where the file cannot be read. A process's files fail to be read, not to be opened, when it ends in
/// between: then an iterator over the stream's buffer would throw.
inline std::string contents(const std::string& path) {
    const std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

/// Without its \n.
inline std::string first_line(const std::string& path) {
    const std::string text = contents(path);
    return text.substr(0, text.find('\n'));
}

}  // namespace rdam::agent
