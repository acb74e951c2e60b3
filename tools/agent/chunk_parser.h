// Reads the slots of one chunk of shared memory (libprobe/format/events.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libprobe/format/events.h"

namespace rdam::agent {

/// What the parser has to know to tell a slot from leftovers.
struct SlotRules {
    std::vector<std::uint16_t> enter_words;  ///< by function number
    std::vector<std::uint16_t> leave_words;
};

struct Slot {
    shm::SlotKind kind = shm::SlotKind::none;
    std::uint32_t function = 0;  ///< pause: the shm::Pause
    std::uint16_t cpu = 0;
    std::uint64_t tsc = 0;
    std::uint64_t caller = 0;               ///< enter, tail_enter
    std::uint64_t until = 0;                ///< pause
    std::span<const std::uint64_t> words;   ///< enter: parameters; leave: the result
    const shm::StackCopy* stack = nullptr;  ///< stack; the bytes follow it in memory
};

/// Walks the slots of a chunk from the first on. A slot that was reserved and never written (its thread was
/// killed, or a signal handler jumped out of the probe) is passed over and counted: its size is unknown, so
/// the next slot that makes sense is looked for.
class ChunkParser {
  public:
    /// `bytes` is the whole chunk. The thread that owns it may still be writing.
    ChunkParser(std::span<const std::uint8_t> bytes, const SlotRules& rules) : bytes_(bytes), rules_(rules) {}

    /// False at the end of what has been written.
    bool next(Slot& slot);

    std::uint64_t holes() const { return holes_; }
    std::size_t used() const { return at_; }  ///< bytes up to the end of the last slot

  private:
    bool read(std::size_t at, Slot& slot, std::size_t& size) const;
    bool find_next();
    std::uint64_t word(std::size_t at) const;

    std::span<const std::uint8_t> bytes_;
    const SlotRules& rules_;
    std::size_t at_ = shm::kChunkHeader;
    std::uint64_t holes_ = 0;
};

}  // namespace rdam::agent
