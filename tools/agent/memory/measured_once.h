// What a probe costs, measured once in a run: it is the same in all processes of a machine, and measuring it
// takes longer than all else that the recorder does in a short one.
#pragma once

#include "tools/agent/memory/shared_memory.h"

namespace rdam::agent {

/// In the starter, before it serves anybody: its agents, which are its children, share what follows. Where
/// this has not been called, or the machine has no memory, each process measures for itself.
void share_measurements();

/// Before the process begins: tells it what another one of the run has measured with the same settings.
void hand_on_measurement(const SharedMemory& shared);

/// Once it has begun: the first measurement is the run's.
void keep_measurement(const SharedMemory& shared);

}  // namespace rdam::agent
