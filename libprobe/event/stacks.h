// On which stack a thread runs: calls on stacks of their own (fibers, coroutines) do not end in the order in
// which the thread began them.
//
// The trampolines compare each event's place with the stack of the thread's last event (ThreadState) and call
// rdam_slow_stack() where it is on another: that writes a stack_switch record. Stacks are numbered in the
// process, since a fiber may go on in another thread; 0 stands for the one that a thread began on. An address
// belongs to one number for good, unless a stack is made there anew.
//
// - Of a stack that the program makes with makecontext(), the extent is known.
// - Of any other, only the places that events have had are: its extent is what lies near them, and grows with
//   further events near by. Two such stacks whose events come closer to each other than kNear are taken for
//   one.
// - A thread may go on on the stack that another one began on (oneTBB's tasks that have been suspended
//   there): its number is kThreadStacks + the tid of that one.
// - A signal handler's stack of its own (sigaltstack) counts as the one that the signal has interrupted: its
//   calls end before those of the interrupted code go on.
#pragma once

#include <cstdint>

#include "libprobe/base/state.h"

namespace rdam::probe {

/// The number of the stack on which another thread began, less the tid of that thread.
inline constexpr std::uint32_t kThreadStacks = std::uint32_t{1} << 31;

/// Finds libc's makecontext(): before the program runs.
void watch_contexts();

/// The thread runs on the stack that it began on. Its frames may reach an eighth of the way into it; calls
/// further down take nothing from it, so a recursion that just fits without the recorder does so with it. The
/// extent of an empty stack is not known: the thread is taken to be on it always.
void watch_stack(ThreadState& thread, const Stack& stack);

/// Behind begin_thread(): other threads may come to run on its stack. In a fork child, whose other threads
/// are gone, the first to say so is its only one.
void lend_stack(const ThreadState& thread);
/// Before end_thread().
void take_stack_back(const ThreadState& thread);
void forget_lent_stacks();

/// The stack of `size` bytes that `address` is near the top of; empty for a size of 0.
Stack stack_of(std::uint64_t address, std::uint64_t size);

/// The stack of the process's first thread. `environment` is the one that the program was started with. Empty
/// if the stack has no limit.
Stack first_stack(char** environment);

/// The next event finds out anew which stack it is on, and says so: the record that said it is in no trace,
/// or in another one.
void forget_place(ThreadState& thread);

/// For an event at `place` on the thread's stack that no trampoline has looked at.
inline void note_place(const ThreadState& thread, std::uint64_t place) {
    if (place < thread.stack_low || place >= thread.stack_high) rdam_slow_stack(place);
}

}  // namespace rdam::probe
