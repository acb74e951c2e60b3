// The recorder's life in a process: start before the program's constructors, a second start in a fork child,
// the end.
#pragma once

#include "libprobe/state.h"

namespace rdam::probe {

/// Starts a trace of its own for a child after fork, with the code that is patched already. Called with
/// signals blocked, at the child's first event. False: nothing is recorded in this process.
bool start_in_fork_child();

/// For a thread of a fork child that finds another one at that: waits until it is done. False: nothing is
/// recorded in this process, or this thread is the one that starts it.
bool await_start();

/// Gives back what slow.cpp has mapped for a thread that ends.
void release_pairs(ThreadState& thread);

}  // namespace rdam::probe
