// A thread's way to memory for its events, and back.
//
// All functions here are called with signals blocked (sys::BlockSignals) and only by the thread that `thread`
// belongs to.
#pragma once

#include <cstdint>

#include "libprobe/state.h"

namespace rdam::probe {

/// Announces the thread to the agent; false when there are more than shm::kMaxThreads. `start` in ticks. A
/// thread that has ended may begin again: a signal handler or a destructor behind the last one still runs.
bool begin_thread(ThreadState& thread, std::uint64_t start);

/// Hands over what the thread has recorded.
void end_thread(ThreadState& thread);

/// Hands the current chunk over and takes another, waiting or not as the user chose. Marks the time it took
/// in the new chunk. False when there is none: the event is counted as dropped.
bool change_chunk(ThreadState& thread);

/// `size` zeroed bytes of the thread's chunk, changing the chunk when they do not fit; nullptr when there are
/// none. The caller writes the head last.
std::uint64_t* take_slot(ThreadState& thread, std::uint32_t size);

/// Takes over the rates that the agent has set for the functions, all of them zero at first.
void take_all_rates();

/// Tells the agent, once, that there is going to be something to write, and waits until the file is there.
void announce_events();

/// Counts one event that is not going to be recorded.
void count_dropped(ThreadState& thread);

/// Points the cursor at no chunk: the next event takes the slow path.
void park(ThreadState& thread);

/// Wakes the agent, wherever it sleeps: somebody is going to wait for it.
void call_agent();

/// Whether the agent still runs (a dead one that nobody has waited for does not).
bool agent_alive();

}  // namespace rdam::probe
