// Which processors belong to which NUMA node, according to sysfs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/result.h"
#include "tools/trace/event.h"

namespace rdam::agent {

/// `0-3,8,10-11`, which may end with a newline. Empty if it is anything else, or names a processor that no
/// trace can (trace::kNoCpu and above).
std::vector<std::uint32_t> parse_cpu_list(std::string_view text);

/// The nodes that have processors, in the order of their numbers. What cannot be read or understood is left
/// out: no folder, no nodes.
std::vector<trace::NodeInfo> read_nodes(const std::string& folder = "/sys/devices/system/node");

// On which processors the agent runs.

/// On which process `pid` may run; none: it is gone.
std::vector<std::uint32_t> processors_of(unsigned pid);

/// The processors that are left to the agent: those of `online` that are not the program's, if the program is
/// bound to some of them; nothing: it runs where the program does.
std::vector<std::uint32_t> others(const std::vector<std::uint32_t>& online,
                                  const std::vector<std::uint32_t>& program);

/// The list of RDAM_AGENT_CPUS. Errors: it is not one.
Result<std::vector<std::uint32_t>> read_agent_cpus(std::string_view text);

/// Binds the calling thread, and the threads it will make, to `wanted`; if that is empty, to the others() of
/// process `program`, where the kernel allows that. Errors: `wanted` is not to be had.
Result<void> place_agent(const std::vector<std::uint32_t>& wanted, unsigned program);

}  // namespace rdam::agent
