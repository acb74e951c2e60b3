// Waits for a process that is not our child.
#pragma once

#include <chrono>
#include <optional>

namespace rdam {

/// Whether the process of this descriptor (pidfd_open) ends within the time. Nothing, after the time is over:
/// not known, because there is no descriptor (negative), or because poll fails, for example if seccomp
/// forbids it.
std::optional<bool> ends_within(int process, std::chrono::milliseconds time);

}  // namespace rdam
