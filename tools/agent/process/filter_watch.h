// Whether the program has set up a system call filter (seccomp), as the kernel says. What it sets up through
// libc the recorder in it has seen before; a system call instruction of its own is seen here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rdam::agent {

/// How many filters a process has, from /proc/PID/status; 1 where the kernel says only that there are some.
std::optional<std::uint32_t> parse_filters(const std::string& status);

/// Not thread-safe.
class FilterWatch {
  public:
    /// What there is then does not count.
    explicit FilterWatch(std::uint32_t program);
    ~FilterWatch();
    FilterWatch(const FilterWatch&) = delete;
    FilterWatch& operator=(const FilterWatch&) = delete;
    FilterWatch(FilterWatch&&) = delete;
    FilterWatch& operator=(FilterWatch&&) = delete;

    /// Whether the first thread has more than it had.
    bool more() const;

  private:
    std::optional<std::uint32_t> count() const;

    int status_;  ///< /proc/PID/status; negative: not readable
    std::optional<std::uint32_t> first_;
};

}  // namespace rdam::agent
