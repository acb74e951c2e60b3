// Where an event cannot be recorded on the straight path.
#pragma once

#include "libprobe/base/state.h"

namespace rdam::probe {

/// Gives back what the slow paths have mapped for a thread that ends.
void release_pairs(ThreadState& thread);

// What the first event in a fork child asks of the recorder's start, which stands above (start/init.cpp).

/// Starts a trace of its own for a child after fork, with the code that is patched already. Called with
/// signals blocked, at the child's first event. False: nothing is recorded in this process.
bool start_in_fork_child();

/// For a thread of a fork child that finds another one at that: waits until it is done. False: nothing is
/// recorded in this process, or this thread is the one that starts it.
bool await_start();

}  // namespace rdam::probe
