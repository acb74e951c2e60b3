// What the probes cost on this machine.
#pragma once

#include "libprobe/base/state.h"

namespace rdam::probe {

/// Runs the trampoline with a stack frame around an empty function, tells Control the cost and takes the
/// events back out of the thread's chunk (docs/design.md §5.6). To be called with signals blocked before the
/// thread has recorded anything; leaves Guard::active at 1.
void measure_cost(ThreadState& thread);

}  // namespace rdam::probe
