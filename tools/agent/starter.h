// The process that starts the agents of a run; without `rdam record` all but the first one's.
//
// An agent outlives the process that it records, so it is an orphan by birth, and the kernel hands orphans to
// the nearest ancestor that takes them in: a program that becomes such an ancestor would get the agents of
// its children. The starter is made before the run's first program runs, outside whatever that becomes;
// agents are its children. It lives as long as one of the processes that it has served, and answers processes
// of its own user, root folder, mounts and control group: an agent must stand where its process does. It may
// have another network or PID namespace. A fork child may stand anywhere, if the agent of its parent asks for
// it: its parent's files are its own.
// Anybody on the machine may connect to it. It finds out who that is before it does anything else, and closes
// what is not its user's.
//
// It has no memory of the program's, no threads, and waits in poll(). An agent is the starter itself, forked:
// what it would do first for every one of a thousand processes has been done.
#pragma once

#include <cstdint>
#include <optional>

namespace rdam::agent {

/// Makes the starter for the run whose first process is `pid` and which has this token (run_mark); it runs
/// the file `agent`. Nothing happens where that cannot be: then processes start their agents by themselves.
/// The calling process must have one thread, and may call ask_for_agent_of() from then on.
void leave_starter(const char* agent, int pid, std::uint32_t token);

/// Whether main() was called by leave_starter(); or by `rdam record` for the run that it begins
/// (tools/rdam/record/starter.h), as `rdam-starter AGENT parent SOCKET LISTENING IN_FOLDER TOKEN ROOM`: by
/// numbers of descriptors, which of IN_FOLDER may be -1. Its parent closes its half of the SOCKET at the end;
/// a byte then says that there are processes of the run left, for which it goes on.
bool is_starter(int count, const char* const* arguments);

/// The process that an agent serves.
struct Served {
    int memory = -1;        ///< the descriptor of the memory that it shares; -1: it cannot be served
    std::uint32_t pid = 0;  ///< here, whatever its own PID namespace
};

/// What the starter runs. Returns where it has ended, with nothing; and in each agent, which is a child of
/// it. Agents show themselves as `rdam-agent FD PID RUN`.
std::optional<Served> serve_run(char** arguments);

/// In an agent: asks the run's starter for an agent of another process, whose shared memory is `memory`.
/// False: there is none. Seconds at most.
bool ask_for_agent_of(std::uint32_t pid, int memory);

}  // namespace rdam::agent
