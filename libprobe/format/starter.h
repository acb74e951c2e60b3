// What a process of a run sends to the run's starter, over a stream socket in the abstract namespace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rdam::starter {

/// The socket's address is a \0 and a name: "rdam-", the run's token (run_mark.h), the number of the PID
/// namespace, which may share its sockets with others, and the user, for whom alone a starter works, each
/// behind a '-'. What does not fit is cut.
class Name {
  public:
    static constexpr std::size_t kMaxSize = 60;

    constexpr Name() = default;
    /// `space` is the target of /proc/self/ns/pid: pid:[4026531836].
    constexpr Name(std::uint32_t token, std::string_view space, std::uint32_t user) {
        add("rdam-");
        add(token);
        add("-");
        for (const char c : space)
            if (c >= '0' && c <= '9') add({&c, 1});
        add("-");
        add(user);
    }

    constexpr const char* text() const { return text_; }
    constexpr std::size_t size() const { return size_; }

  private:
    constexpr void add(std::string_view more) {
        for (const char c : more)
            if (size_ < kMaxSize) text_[size_++] = c;
    }
    constexpr void add(std::uint32_t number) {
        char digits[10] = {};
        std::size_t at = sizeof digits;
        do
            digits[--at] = static_cast<char>('0' + number % 10);
        while ((number /= 10) > 0);
        add({digits + at, sizeof digits - at});
    }

    char text_[kMaxSize] = {};
    std::size_t size_ = 0;
};

inline constexpr std::uint32_t kMagic = 0x72617473;
inline constexpr std::uint32_t kMaxEnvironment = std::uint32_t{8} << 20;  ///< bytes

/// Comes with the descriptor of the shared memory; `environment` bytes follow: the agent's variables, each
/// with its \0. The answer is the agent's pid in 32 bits; 0: the process must start its agent by itself.
struct Request {
    std::uint32_t magic = kMagic;
    std::uint32_t pid = 0;
    std::uint32_t environment = 0;
};

}  // namespace rdam::starter
