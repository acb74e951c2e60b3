// The chunks of the memory that is shared with the agent: where they come from and where they go.
//
// All functions here are called with signals blocked (sys::BlockSignals).
#pragma once

#include <cstdint>

#include "libprobe/base/state.h"

namespace rdam::probe {

shm::ChunkHeader& header_of(std::uint32_t chunk);

/// A chunk for the thread, which has a slot, waiting or not as the user chose; its header is set up, and one
/// of records is all zeros. shm::kNone: there is none. `waited` becomes 1 if there was a wait.
std::uint32_t acquire(const ThreadState& thread, shm::ChunkKind kind, std::uint64_t& waited);

/// Gives fresh chunks their memory, before a filter forbids it.
void populate_chunks();

/// Gives a chunk back that the agent has not seen.
void release(std::uint32_t chunk);

/// On their way to the agent.
void hand_over_chunk(std::uint32_t chunk);
void hand_over_thread(const shm::ThreadSlot& slot);

void wake_agent();

/// Wakes the agent, wherever it sleeps: a thread is about to wait for it.
void call_agent();

/// Whether the agent still runs (a zombie does not).
bool agent_alive();

/// Whether an agent serves the process that these belong to.
bool is_held(const shm::Births& births);

}  // namespace rdam::probe
