// The columns of the event chunk under construction: what ChunkEncoder fills and TraceWriter takes.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "libprobe/format/varint.h"
#include "tools/trace/encoder.h"
#include "tools/trace/event.h"
#include "tools/trace/format.h"

namespace rdam::trace {

/// Bytes that grow at the end. The end is a plain pointer, room is made in advance.
class ByteColumn {
  public:
    /// Makes place for `bytes` more, and the slack that varint::put wants.
    void reserve(std::size_t bytes) {
        if (static_cast<std::size_t>(limit_ - end_) < bytes + varint::kSlack) [[unlikely]]
            grow(bytes);
    }
    /// Needs room made by reserve().
    void put_reserved(std::uint64_t value) { end_ = varint::put(end_, value); }
    void put_small_reserved(std::uint64_t value) { end_ = varint::put_small(end_, value); }
    void put(std::uint64_t value) {
        reserve(varint::kMaxBytes);
        put_reserved(value);
    }
    void put_small(std::uint64_t value) {
        reserve(varint::kMaxBytes);
        put_small_reserved(value);
    }

    std::size_t size() const { return static_cast<std::size_t>(end_ - bytes_.get()); }
    const std::uint8_t* data() const { return bytes_.get(); }
    void clear() { end_ = bytes_.get(); }

  private:
    void grow(std::size_t bytes);

    std::unique_ptr<std::uint8_t[]> bytes_;
    std::uint8_t* end_ = nullptr;
    std::uint8_t* limit_ = nullptr;
};

/// A chunk that is complete except for its compression.
struct SealedChunk {
    std::vector<std::uint8_t> payload;
    std::uint32_t events = 0;
    std::uint64_t first_tsc = 0;
    std::uint64_t last_tsc = 0;
    bool gap = false;
    bool switches = false;  ///< format::kSwitches
};

struct ChunkEncoder::Columns {
    /// A function of the chunk, numbered by first appearance. kUnused: no such event of it yet.
    struct Local {
        std::uint32_t function = 0;
        std::uint32_t enter_words = kUnused;
        std::uint32_t leave_words = kUnused;
        std::uint32_t enter_previous = 0;  ///< where in `previous` its last enter words are
        std::uint32_t leave_previous = 0;
    };
    static constexpr std::uint32_t kUnused = 0xffffffff;

    /// Return addresses of the chunk. The small table answers for the few that are in use at a time; there is
    /// none where all calls have one address.
    struct Callers {
        struct Seen {
            std::uint64_t address = 0;
            std::uint32_t number = kUnused;
        };
        static constexpr std::size_t kRecent = 256;
        using Recent = std::array<Seen, kRecent>;
        Seen last;
        std::unique_ptr<Recent> recent;
        tsl::robin_map<std::uint64_t, std::uint32_t> all;
        std::uint64_t last_new = 0;
    };

    ByteColumn& column(format::Column which) { return bytes[static_cast<std::size_t>(which)]; }

    void begin(std::uint64_t tsc);
    std::uint64_t step(std::uint64_t tsc);
    std::uint32_t local(std::uint32_t function);
    std::uint32_t add_local(std::uint32_t function);
    std::uint32_t add_local_number(std::uint32_t function);
    bool worth_a_table(std::uint32_t function) const;
    std::uint32_t number_of_caller(std::uint64_t address);
    std::uint32_t recent_caller(std::uint64_t address);
    std::uint32_t look_up_caller(std::uint64_t address);
    void put_words(std::uint32_t previous_at, std::span<const std::uint64_t> words);
    void on_processor(std::uint16_t cpu) {
        if (cpu != processor) [[unlikely]]
            change_processor(cpu);
        ++processor_run;
    }
    /// For an enter or leave; 0: not known. If no count in a chunk is known, its column is empty.
    void counted(std::uint64_t instructions) {
        if (instructions == 0 && column(format::Column::instructions).size() == 0) [[likely]]
            ++uncounted;
        else
            put_instructions(instructions);
    }
    void put_instructions(std::uint64_t count);
    void change_processor(std::uint16_t cpu);
    void end_processor_run();
    void added() {
        if (++events >= format::kMaxEvents || column(format::Column::words).size() > kSealAt) [[unlikely]]
            seal();
    }

    /// Ends the chunk under construction, if it holds anything.
    void seal();
    void reset();
    void drop_sealed();

    /// Words fill a chunk before the number of events does when there are many; half the limit leaves room
    /// for the largest single event and for all other columns.
    static constexpr std::size_t kSealAt = format::kMaxRawSize / 2;

    std::array<ByteColumn, format::kColumns> bytes;
    std::vector<Local> locals;
    std::vector<std::uint32_t> local_of;                        ///< 1 + local number by function, 0: none
    tsl::robin_map<std::uint32_t, std::uint32_t> far_local_of;  ///< where a table would be too large
    std::vector<std::uint64_t> previous;                        ///< last words, by local function
    Callers callers;
    std::uint64_t first_tsc = 0;
    std::uint64_t last_tsc = 0;
    std::uint32_t events = 0;
    std::uint32_t last_stack_at = 0;
    std::uint32_t last_sampling_at = 0;
    std::uint32_t uncounted = 0;  ///< enters and leaves before the first count
    std::uint64_t last_instructions = 0;
    std::uint32_t processor_run = 0;
    std::uint16_t processor = kNoCpu;
    bool gap = false;
    bool switches = false;

    std::vector<SealedChunk> sealed;
    std::uint64_t sealed_events = 0;
    std::vector<std::uint8_t> spare;  ///< the memory of the last payload, for the next
};

}  // namespace rdam::trace
