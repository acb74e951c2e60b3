// The agent has no more rights than the program: what a daemon gives up when it becomes another user, the
// agent gives up, too, before it reads what the program has written since.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/files.h"

namespace rdam::agent {

/// Whom a process acts for.
struct Credentials {
    std::array<uid_t, 4> users{};   ///< real, effective, saved, for files
    std::array<gid_t, 4> groups{};  ///< likewise
    std::vector<gid_t> others;      ///< supplementary groups
};

/// From /proc/PID/status; nothing if that does not contain users and groups.
std::optional<Credentials> parse_credentials(const std::string& status);

/// /proc/PID/status, which stays open: another user could not open it again.
class StatusFile {
  public:
    explicit StatusFile(std::uint32_t pid);
    /// Empty: it cannot be read, is another process's, or the process is gone.
    std::string text() const;

  private:
    Descriptor file_;
};

/// Not thread-safe; changes the rights of all threads of the agent.
class Privileges {
  public:
    /// `before` is called before each change, with the old rights.
    Privileges(std::uint32_t program, std::function<void()> before);

    /// Looks at the program, and becomes the user that it is if it cannot come back to ours (a change of the
    /// effective user alone is no loss). Of a program that is gone nothing is known any more. False: the
    /// kernel does not let us.
    bool follow();

  private:
    bool become(const Credentials& wanted);

    StatusFile status_;
    uid_t user_;
    gid_t group_;
    std::function<void()> before_;
};

// Whether the program has set up a system call filter (seccomp), as the kernel says. What it sets up through
// libc the recorder in it has seen before; a system call instruction of its own is seen here.

/// How many filters a process has, from /proc/PID/status; 1 where the kernel says only that there are some.
std::optional<std::uint32_t> parse_filters(const std::string& status);

/// Not thread-safe.
class FilterWatch {
  public:
    /// What there is then does not count.
    explicit FilterWatch(std::uint32_t program) : status_(program), first_(parse_filters(status_.text())) {}

    /// Whether the first thread has more than it had.
    bool more() const;

  private:
    StatusFile status_;
    std::optional<std::uint32_t> first_;
};

// Who forbids perf events, for the notes on what was not recorded.

/// "forbidden by …". `paranoid` is what kernel.perf_event_paranoid says; empty: it cannot be read.
std::string who_forbids_perf(std::string_view paranoid);
/// who_forbids_perf() with this machine's kernel.perf_event_paranoid.
std::string who_forbids_perf();

}  // namespace rdam::agent
