// Reads the records of one chunk of shared memory (libprobe/format/events.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libprobe/format/events.h"

namespace rdam::agent {

/// What the parser must know to distinguish a record from leftovers.
struct RecordRules {
    std::vector<std::uint16_t> enter_words;  ///< by function number
    std::vector<std::uint16_t> leave_words;
};

/// A copy: what it is made of may change in the chunk.
struct EventRecord {
    shm::RecordKind kind = shm::RecordKind::none;
    std::uint32_t function = 0;  ///< pause: the shm::Pause
    std::uint16_t cpu = 0;
    std::uint64_t tsc = 0;
    std::uint64_t caller = 0;              ///< enter, tail_enter
    std::uint64_t until = 0;               ///< pause, stack; stack_switch: the number of the stack
    std::uint64_t instructions = 0;        ///< enter, tail_enter, leave: the thread's; 0: not known
    std::vector<std::uint64_t> raw;        ///< all of it, as in the chunk
    std::span<const std::uint64_t> words;  ///< of `raw`; enter: parameters; leave: the result
};

/// Walks the records of a chunk. A record may be reserved and not written: by a probe that a signal handler
/// has interrupted, which writes it later, or never, if the handler jumped out or the thread was killed.
class ChunkParser {
  public:
    enum class Step : std::uint8_t { record, unwritten, end };

    /// `bytes` is the whole chunk. The thread that owns it may still be writing. `used` is where the next
    /// record would have begun; 0: not known, and an unwritten one behind the last is not seen. Begins at
    /// `from`.
    ChunkParser(std::span<const std::uint8_t> bytes, const RecordRules& rules, std::size_t used = 0,
                std::size_t from = shm::kChunkHeader)
        : bytes_(bytes), rules_(rules), used_(used), at_(from) {}

    /// Stays where it is at an unwritten record: it may be there the next time.
    Step next(EventRecord& record);

    /// Passes over the unwritten record and counts it. Its size is unknown, so the next record that makes
    /// sense is looked for.
    void skip_unwritten();

    std::uint64_t unwritten() const { return unwritten_; }
    std::size_t at() const { return at_; }  ///< bytes up to the end of the last record

  private:
    std::size_t size_of(shm::Head head) const;
    bool read(std::size_t at, EventRecord& record) const;
    std::size_t find_next() const;
    std::uint64_t word(std::size_t at) const;

    std::span<const std::uint8_t> bytes_;
    const RecordRules& rules_;
    std::size_t used_;
    std::size_t at_;
    std::uint64_t unwritten_ = 0;
};

// Which functions have left something in chunks that nobody has read yet.

/// Looks for the numbers of functions in chunks that their threads may be writing to, so without relying on
/// where a record begins. What only looks like a number counts as well.
class FunctionsLeft {
  public:
    /// Looks at a chunk as one of records, or as one of packs and call stacks.
    void look_at_records(std::span<const std::uint8_t> chunk);
    void look_at_packs(std::span<const std::uint8_t> chunk);

    bool has(std::uint32_t number) const { return number < seen_.size() && seen_[number]; }

  private:
    void note(std::uint64_t number);

    std::vector<bool> seen_ = std::vector<bool>(shm::kFirstRegion);
};

}  // namespace rdam::agent
