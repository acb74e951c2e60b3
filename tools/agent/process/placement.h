// On which processors the agent runs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/base/result.h"

namespace rdam::agent {

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
