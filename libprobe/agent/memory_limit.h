// How much memory the process may use before the kernel kills it.
#pragma once

#include <cstdint>

namespace rdam::probe {

/// The least limit of the control groups that the process is in (a container's, a service's); ~0: none.
/// Memory beyond it is not refused: the kernel kills for it.
std::uint64_t cgroup_memory_limit();

}  // namespace rdam::probe
