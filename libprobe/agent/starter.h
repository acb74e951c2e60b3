// Asking the run's starter for an agent.
//
// A process's agent is an orphan by birth, and orphans are handed to the nearest ancestor that takes them in
// (PR_SET_CHILD_SUBREAPER): a program that did not make it would find it among its children. So `rdam record`
// makes a starter, or the first process of a run without it leaves one behind, before the program runs, and
// the agents of all other processes are the starter's children (tools/agent/starter.h).
#pragma once

#include <cstdint>

namespace rdam::probe {

enum class Asked : std::uint8_t {
    started,
    absent,   ///< there is no starter of this user: the run begins here, or it has ended
    refused,  ///< it cannot start the agent in this process's place (root, namespaces, user, control group)
    silent    ///< it does not answer: it is not known whether there will be an agent
};

/// Hands over the shared memory `fd` and the agent's environment, which ends with a null. On `started`
/// `agent_pid` is set. Seconds at most.
Asked ask_starter(int fd, const char* const* environment, std::uint32_t& agent_pid);

}  // namespace rdam::probe
