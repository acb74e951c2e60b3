// What a process of a run sends to the run's starter, over a stream socket in the abstract namespace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rdam::starter {

/// The socket's address is a \0 and a name: "rdam-", the number of the PID namespace, '-', and the pid of a
/// process that the starter has served.
inline constexpr std::string_view kBegin = "rdam-";
inline constexpr std::size_t kMaxName = 60;

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
