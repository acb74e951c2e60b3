// Which programs of the run adopt orphans: a subreaper (PR_SET_CHILD_SUBREAPER), or process 1.
//
// An agent that a process starts by itself (agent_link.cpp) is handed to the nearest of them, which would
// find a child that it did not make. The kernel shows nobody but the program itself that it is one. So the
// program carries a mark (format/run_mark.h). Whatever it starts inherits the mark, over any exec and change
// of user, root directory or namespace, and those that it has started before can read it in /proc.
#pragma once

#include <cstdint>

#include "libprobe/format/starter.h"

namespace rdam::probe {

/// This process's mark.
RunMark own_mark();

/// False: the process may not set it; nothing has changed.
bool set_mark(RunMark mark);

/// Whether this process does.
bool adopts_orphans();

/// At the process's start: marks it if it adopts orphans already. If it begins to later it is marked by
/// prctl(), which librdam.so interposes.
void watch_adoption();

/// Marks this process if the arguments of a prctl that is about to be called make it adopt orphans.
void before_prctl(std::uint64_t option, std::uint64_t argument);

/// The pid of a program that may be handed an orphan that this process makes; 0: there is none, except for
/// the process itself.
std::uint32_t adopter_above();

}  // namespace rdam::probe
