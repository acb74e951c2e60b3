// What the probes cost on this machine.
#pragma once

#include "libprobe/base/state.h"

namespace rdam::probe {

/// Takes over what another process of the run has measured, if the agent has told of it. False: it has not.
bool know_cost();

/// Runs the trampoline with a stack frame around an empty function, stores the cost in Control and removes
/// the events from the thread's chunk (docs/recorder.md, "What the probe costs"). To be called with signals
/// blocked before the thread has recorded anything; leaves Guard::active at 1.
void measure_cost(ThreadState& thread);

}  // namespace rdam::probe
