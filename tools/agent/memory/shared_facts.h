// What the agent reads from the memory that the program can write to, and may have overwritten. Each thing is
// copied once; if it does not agree with its check, or is impossible, the result is nothing. A caller that
// needs a thing twice keeps the copy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libprobe/format/shared.h"
#include "tools/agent/memory/shared_memory.h"

namespace rdam::agent {

/// An entry of the ring.
struct RingEntry {
    bool ended_thread = false;
    std::uint32_t index = 0;  ///< of the thread's slot, or of the chunk
};
/// Nothing: there is no such slot or chunk. `entry` is not 0.
std::optional<RingEntry> read_entry(std::uint32_t entry, std::uint32_t chunks);

/// The owner of a chunk, and how far the chunk is filled.
struct ChunkFacts {
    shm::ChunkKind kind = shm::ChunkKind::records;
    std::uint32_t thread = 0;
    std::uint32_t slot = 0;
    std::uint32_t sequence = 0;
    std::uint32_t used = 0;    ///< bytes from its start, up to kChunkSize; 0: not known
    std::uint32_t number = 0;  ///< of records that were handed over; 0: they were not
    bool intact = false;       ///< false: a part of this is damaged
};
/// Nothing: it is not known whose it is. `chunk` is one of the memory's.
std::optional<ChunkFacts> look_at_chunk(const SharedMemory& shared, std::uint32_t chunk);

/// Whether a state is one of the defined ones, including that of an unused chunk.
bool is_state(shm::ChunkState state);
bool is_free(shm::ChunkState state);

/// A thread according to its slot.
struct ThreadFacts {
    std::uint32_t index = 0;
    std::uint32_t tid = 0;
    std::uint64_t start = 0;
    bool reopened = false;
    std::string name;
    std::uint64_t end = 0;      ///< 0: not reported
    std::uint32_t numbers = 0;  ///< where it has
    std::uint64_t dropped = 0;
    bool intact = true;  ///< false: a part of this is damaged
};
/// Nothing: it is not known which thread it is.
std::optional<ThreadFacts> look_at_thread(const shm::ThreadSlot& slot);

/// Region `number`; nothing: it makes no sense.
std::optional<shm::Region> look_at_region(const shm::Control& control, std::uint32_t number);

/// How many chunks have ever been used, rather too many than too few. At most `chunks`.
std::uint32_t used_chunks(const shm::Control& control, std::uint32_t chunks);

/// Since when a function's calls are recorded in windows only, in ticks; 0: all are recorded; 1: since then,
/// but the time is damaged. `number` is below kMaxFunctions.
std::uint64_t windowed_since(const shm::Control& control, std::uint32_t number);

/// When the process reported its end, in ticks; 0: it has not.
std::uint64_t told_end(const shm::Control& control);

}  // namespace rdam::agent
