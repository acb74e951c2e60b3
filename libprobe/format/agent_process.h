// What the recorder and `rdam record`, which both start rdam-agent, know of it.
#pragma once

#include <sys/resource.h>

namespace rdam::agent_process {

/// Where it is, relative to the directory of librdam.so.
inline constexpr char kInstalled[] = "rdam/rdam-agent";
inline constexpr char kInBuildTree[] = "../tools/agent/rdam-agent";

/// Limits of the program, for its own good, that are not meant for the agent.
inline constexpr decltype(RLIMIT_AS) kRaisedLimits[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_CPU, RLIMIT_FSIZE,
                                                        RLIMIT_NOFILE};

}  // namespace rdam::agent_process
