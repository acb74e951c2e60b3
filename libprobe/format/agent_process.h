// What the recorder and `rdam record`, which both start rdam-agent, know of it.
#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <string_view>

namespace rdam::agent_process {

/// Where it is, relative to the directory of librdam.so.
inline constexpr char kInstalled[] = "rdam/rdam-agent";
inline constexpr char kInBuildTree[] = "../tools/agent/rdam-agent";

/// Limits of the program, for its own good, that are not meant for the agent.
inline constexpr decltype(RLIMIT_AS) kRaisedLimits[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_CPU, RLIMIT_FSIZE,
                                                        RLIMIT_NOFILE};

/// The variables of the program's environment that are for the agent, by how they begin: the settings, where
/// its files go, and the rank in a job.
inline constexpr std::string_view kVariables[] = {
    "RDAM_",      "HOME=",     "XDG_CACHE_HOME=", "TMPDIR=", "OMPI_COMM_WORLD_RANK=",
    "PMIX_RANK=", "PMI_RANK=", "SLURM_PROCID=",
};

/// The argument that says of which run an agent is begins like this, where it has one: then its environment
/// is its starter's.
inline constexpr char kRunArgument[] = "run=";

/// The process that opens and closes an agent's windows has the agent's command line, and this name.
inline constexpr char kWindowsTitle[] = "rdam-windows";

/// Bytes of the starter's last argument, in which its agents show theirs.
inline constexpr std::size_t kRoomSize = 256;

}  // namespace rdam::agent_process
