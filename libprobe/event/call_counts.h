// How often gated functions are called, recorded or not: a counter of each such function for each thread,
// which the gate's code counts up (gates.h), and a copy of them in the memory that is shared with the agent.
// Without them the calls of a closed gate would be anybody's guess.
//
// The first kNearCounters are in the thread's own storage. More of them there would take too much of small
// stacks, so the others, the far ones, are in memory that a thread gets when it begins, and gives back when it
// ends. A thread that begins under a filter has none, and does not say what it has called of these functions.
#pragma once

#include <cstdint>

#include "libprobe/base/state.h"
#include "libprobe/format/shared.h"

namespace rdam::probe {

inline constexpr std::uint32_t kNoCallCounter = 0xffffffff;

/// The counter of a gated function, a new one if it has none. One thread at a time.
std::uint32_t give_call_counter(std::uint32_t function);
/// kNoCallCounter: it has none.
std::uint32_t call_counter_of(std::uint32_t function);
inline bool is_far(std::uint32_t counter) {
    return counter >= shm::kNearCounters && counter != kNoCallCounter;
}
/// From any thread's thread pointer to its counter, a near one.
std::uint32_t displacement_of(std::uint32_t counter);
/// From any thread's thread pointer to the pointer to its far counters, and from where that points to one.
std::uint32_t displacement_of_far();
inline std::uint32_t offset_of_far(std::uint32_t counter) {
    return (counter - shm::kNearCounters) * static_cast<std::uint32_t>(sizeof(std::uint64_t));
}

/// Tells the agent of this process (globals.control) which function each counter is for.
void tell_call_counters();

/// Shows the agent what the calling thread has counted. Signals are blocked; `slot` is the thread's.
void publish_calls(ThreadState& thread, shm::ThreadSlot& slot);
/// `slot` is the thread's from now on, and shows nothing of the one before.
void begin_publishing(ThreadState& thread, shm::ThreadSlot& slot);

/// From now on without a system call.
void open_call_counts();

/// Publishes the calls of all other live threads, if the program ends before they do.
void publish_others();
/// The calls are again as they were when they were last published.
void take_back_calls(ThreadState& thread);
/// The thread has called nothing yet.
void forget_calls(ThreadState& thread);
/// The thread has ended: what it still calls of functions with far counters is not counted.
void release_calls(ThreadState& thread);

}  // namespace rdam::probe
