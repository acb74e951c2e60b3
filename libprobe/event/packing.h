// A thread packs its own events when its chunk of records is full (libprobe/format/packer.h): they are in its
// cache, and no other thread has to spend time.
//
// All functions here are called with signals blocked and only by the thread that `thread` belongs to, which
// has a slot.
#pragma once

#include <cstdint>

#include "libprobe/base/state.h"

namespace rdam::probe {

/// Packs the records of the thread's chunk, up to `used` bytes from its start. True: all of them are packed.
/// `waited` becomes 1 if there was a wait for room.
bool pack_records(ThreadState& thread, std::uint32_t used, std::uint64_t& waited);

/// Room for a pack with at least `least` bytes behind its header, in the thread's packed chunk; null: there
/// is none. `room`: the number of bytes. The agent sees the pack once publish_pack() has been called; by then
/// everything behind the header must be written, and `record` except for its number and check.
shm::PackHeader* reserve_pack(ThreadState& thread, std::uint32_t least, std::uint32_t& room,
                              std::uint64_t& waited);
void publish_pack(ThreadState& thread, shm::PackHeader* place, shm::PackHeader header);

/// Hands the thread's packed chunk over, if it has one.
void hand_over_packed(ThreadState& thread);

/// More packers than threads pack at the same time, before a filter forbids to map them.
void make_packers();

/// In a fork child: those of its threads that packed are not there.
void forget_packers();

}  // namespace rdam::probe
