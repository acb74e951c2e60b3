// Asking the run's starter for an agent.
//
// A process's agent is an orphan by birth, and orphans are handed to the nearest ancestor that takes them in
// (PR_SET_CHILD_SUBREAPER): a program that did not make it would find it among its children. So `rdam record`
// makes a starter, or the first process of a run without it leaves one behind, before the program runs, and
// the agents of all other processes are the starter's children (tools/agent/starter.h). Its name has a random
// number in it, which fork children have in their memory, and what is executed in its limits. If another user
// holds the name all the same, that is said, and costs nothing.
#pragma once

#include <cstdint>

namespace rdam::probe {

enum class Asked : std::uint8_t {
    started,
    absent,   ///< there is no starter of this user: the run begins here, or it has ended
    refused,  ///< it cannot start the agent in this process's place (root, namespaces, user, control group)
    silent    ///< it does not answer: it is not known whether there will be an agent
};

/// A random number for the name of a starter that is about to be left behind; what this process makes or
/// becomes from now on finds that starter by it (format/run_mark.h).
std::uint32_t choose_token();

/// Hands over the shared memory `fd` and the agent's environment, which ends with a null. On `started`
/// `agent_pid` is set. Seconds at most.
Asked ask_starter(int fd, const char* const* environment, std::uint32_t& agent_pid);

}  // namespace rdam::probe
