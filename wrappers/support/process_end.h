// Waits for a process that is not our child.
#pragma once

#include <chrono>
#include <optional>

namespace rdam {

/// Whether the process of this descriptor (pidfd_open) ends within the time. Nothing, when the time is over:
/// it cannot be told so, for there is no descriptor (negative), or poll fails, as where seccomp forbids it.
std::optional<bool> ends_within(int process, std::chrono::milliseconds time);

}  // namespace rdam
