// What every process of a run carries through fork, exec and changes of user: the soft limit RLIMIT_LOCKS,
// which Linux has ignored since 2.4.25.
#pragma once

#include <cstdint>

namespace rdam {

/// Zero is none, of either.
struct RunMark {
    std::uint32_t adopter = 0;  ///< the pid of the program of the run that adopts orphans
    std::uint32_t token = 0;    ///< a random number, part of the name under which the run's starter listens
};

namespace run_mark {

// Any limit that begins like this is a mark. It is neither "unlimited" nor a number that somebody would
// choose.
inline constexpr std::uint64_t kMagic = 0x72d;
inline constexpr int kMagicShift = 52;
inline constexpr int kAdopterShift = 30;
inline constexpr std::uint32_t kMaxPid =
    (1u << (kMagicShift - kAdopterShift)) - 1;  ///< Linux has no larger one
inline constexpr std::uint32_t kMaxToken = (1u << kAdopterShift) - 1;

constexpr std::uint64_t limit_of(RunMark mark) {
    return kMagic << kMagicShift | std::uint64_t{mark.adopter & kMaxPid} << kAdopterShift |
           (mark.token & kMaxToken);
}

constexpr RunMark mark_in(std::uint64_t limit) {
    if (limit >> kMagicShift != kMagic) return {};
    return {static_cast<std::uint32_t>(limit >> kAdopterShift) & kMaxPid,
            static_cast<std::uint32_t>(limit) & kMaxToken};
}

/// The token made of any random number; never 0.
constexpr std::uint32_t token_of(std::uint32_t random) {
    const std::uint32_t token = random & kMaxToken;
    return token == 0 ? 1 : token;
}

}  // namespace run_mark
}  // namespace rdam
