// Frames of calls that leave the thread's stack as it is: for functions that need it so, and where a thread
// is deep in its stack.
//
// All functions here are called by the thread that `thread` belongs to, with signals blocked
// (sys::BlockSignals).
#pragma once

#include <cstdint>

#include "libprobe/base/state.h"

namespace rdam::probe {

/// The stack frames of a thread may reach an eighth of the way into its stack. What is below has shadow
/// frames, so a recursion that just fits without the recorder does so with it, an eighth of the stack apart.
/// An empty stack, and any other that the thread runs on (a signal's, a coroutine's), is not watched.
void watch_stack(ThreadState& thread, const Stack& stack);

/// The stack of `size` bytes that `address` is near the top of; empty for a size of 0.
Stack stack_of(std::uint64_t address, std::uint64_t size);

/// The stack of the process's first thread. `environment` is the one that the program was started with. Empty
/// if the stack has no limit.
Stack first_stack(char** environment);

/// The thread's frame at an address; null: it has none there.
ShadowFrame* as_shadow_frame(ThreadState& thread, std::uint64_t address);

/// A return address of a wrapped call.
bool in_trampolines(std::uint64_t address);

/// Gives back what has been mapped for a thread that ends: none of its calls is open.
void release_shadow_frames(ThreadState& thread);

}  // namespace rdam::probe
