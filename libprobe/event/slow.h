// Where an event cannot be recorded on the straight path.
#pragma once

#include "libprobe/base/state.h"

namespace rdam::probe {

/// Gives back what the slow paths have mapped for a thread that ends.
void release_pairs(ThreadState& thread);

/// Before the caller's first event: false, nothing of it is recorded.
bool begin_recording(ThreadState& thread);

/// A record of so many bytes in the caller's chunk, taken as in the trampolines by one unlocked instruction:
/// a signal handler takes the next. nullptr: there is none, and it has been counted.
std::uint64_t* reserve_record(std::uint64_t size);

// What the first event in a fork child asks of the recorder's start, which stands above (start/init.cpp).

/// Starts a trace of its own for a child after fork, with the code that is patched already. Called with
/// signals blocked, at the child's first event. False: nothing is recorded in this process.
bool start_in_fork_child();

/// For a thread of a fork child that finds another one at that: waits until it is done. False: nothing is
/// recorded in this process, or this thread is the one that starts it.
bool await_start();

}  // namespace rdam::probe
