// The agent has no more rights than the program: what a daemon gives up when it becomes another user, the
// agent gives up, too, before it reads what the program has written since.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rdam::agent {

/// Whom a process acts for.
struct Credentials {
    std::array<uid_t, 4> users{};   ///< real, effective, saved, for files
    std::array<gid_t, 4> groups{};  ///< likewise
    std::vector<gid_t> others;      ///< supplementary groups
};

/// From /proc/PID/status; nothing if that does not contain users and groups.
std::optional<Credentials> parse_credentials(const std::string& status);

/// A descriptor of /proc/PID/status; negative: it cannot be read, or is another process's.
int open_status(std::uint32_t pid);

/// Not thread-safe; changes the rights of all threads of the agent.
class Privileges {
  public:
    /// `before` is called before each change, with the old rights.
    Privileges(std::uint32_t program, std::function<void()> before);
    ~Privileges();
    Privileges(const Privileges&) = delete;
    Privileges& operator=(const Privileges&) = delete;
    Privileges(Privileges&&) = delete;
    Privileges& operator=(Privileges&&) = delete;

    /// Looks at the program, and becomes the user that it is if it cannot come back to ours (a change of the
    /// effective user alone is no loss). Of a program that is gone nothing is known any more. False: the
    /// kernel does not let us.
    bool follow();

  private:
    bool become(const Credentials& wanted);

    int status_;  ///< /proc/PID/status; negative: not readable
    uid_t user_;
    gid_t group_;
    std::function<void()> before_;
};

}  // namespace rdam::agent
