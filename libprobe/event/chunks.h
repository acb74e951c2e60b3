// A thread's way to memory for its events, and back.
//
// All functions here are called with signals blocked (sys::BlockSignals) and only by the thread that `thread`
// belongs to.
#pragma once

#include <cstdint>

#include "libprobe/base/state.h"

namespace rdam::probe {

/// Announces the thread to the agent; false when there are more than shm::kMaxThreads. `start` in ticks. A
/// thread that has ended may begin again: a signal handler or a destructor behind the last one still runs.
bool begin_thread(ThreadState& thread, std::uint64_t start);

/// Tells the agent again which thread this is, and when it began.
void tell_begin(ThreadState& thread);

/// Hands over what the thread has recorded.
void end_thread(ThreadState& thread);

/// Empties the current chunk, or takes another, waiting or not as the user chose. Marks the time it took
/// at the chunk's begin. False when there is none: the event is counted as dropped.
bool change_chunk(ThreadState& thread);

/// `size` zeroed bytes of the thread's chunk, changing the chunk when they do not fit; nullptr when there are
/// none. The caller writes the head last.
std::uint64_t* take_record(ThreadState& thread, std::uint32_t size);

/// Tells the agent, once, that there is going to be something to write, and waits until the file is there,
/// which is marked as a pause. The thread has a slot, or there is no mark.
void announce_events(ThreadState& thread);

/// Counts one event that is not going to be recorded.
void count_dropped(ThreadState& thread);

/// A thread that lent its memory to a child with a stack of its own has its own again, if it is on its stack
/// (ThreadState::vfork_alone). False: the child runs, or it cannot be known.
bool come_back(ThreadState& thread);

/// Under a filter: counts one event of a handler that has interrupted the bookkeeping of its thread, and
/// leaves all as it is. Each such event moves the cursor on: it must not leave its chunk.
void drop_disturbed(ThreadState& thread);

/// Points the cursor at no chunk: the next event takes the slow path.
void park(ThreadState& thread);

}  // namespace rdam::probe
