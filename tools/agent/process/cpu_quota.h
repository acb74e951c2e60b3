// Whether the kernel rations the processor time of a process's control groups.
#pragma once

#include <string>
#include <string_view>

namespace rdam::agent {

/// The two numbers of a cpu.max (`50000 100000`, or `max 100000`) allow less than all of so many processors.
bool is_quota(std::string_view cpu_max, unsigned processors);

/// `cgroups`: what /proc/PID/cgroup says; `mounts`: where the control groups are mounted. Groups around that
/// of the process count as well. What cannot be read is no limit.
bool has_cpu_quota(std::string_view cgroups, const std::string& mounts, unsigned processors);

/// Whether a process on this machine has a CPU quota.
bool has_cpu_quota(unsigned pid);

}  // namespace rdam::agent
