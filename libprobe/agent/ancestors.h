// What /proc shows of the processes from which this one descends.
#pragma once

#include <cstdint>

namespace rdam::probe {

/// So many are looked at.
inline constexpr int kMaxAncestors = 64;

/// 0: it has none, or /proc does not say.
std::uint32_t parent_of(std::uint32_t pid);

/// The soft limit RLIMIT_LOCKS of a process, which everybody may read. 0: it is unlimited, or /proc does not
/// say.
std::uint64_t lock_limit_of(std::uint32_t pid);

}  // namespace rdam::probe
