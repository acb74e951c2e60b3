// Decodes packs into events. The input is untrusted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libprobe/format/pack.h"
#include "tools/trace/event.h"
#include "tools/trace/event_columns.h"

namespace rdam::trace {

// The payload of a packed event chunk (libprobe/format/pack.h): consecutive packs.

/// Packs of one thread, ready to be a chunk. Not thread-safe.
struct Packs {
    std::vector<std::uint8_t> payload;
    std::uint32_t events = 0;
    std::uint64_t first_tsc = 0;
    std::uint64_t last_tsc = 0;
    bool gap = false;        ///< events of the thread were lost before these
    bool innermost = false;  ///< an op ends a call that is not named: format::kInnermost
    bool switches = false;   ///< an op switches the stack: format::kSwitches

    /// A whole, sound pack has been added to the payload.
    void count(const pack::Header& header) {
        if (events == 0) first_tsc = header.first_tsc;
        last_tsc = header.last_tsc;
        events += header.events;
    }
    void add(const pack::Header& header, std::span<const std::uint8_t> bytes) {
        payload.insert(payload.end(), bytes.begin(), bytes.end());
        count(header);
    }
    void clear() {
        payload.clear();
        events = 0;
        gap = false;
        innermost = false;
        switches = false;
    }
};

/// Where the parts of a pack are, in bytes from its start.
struct PackLayout {
    pack::Header header;
    std::size_t ops = 0;
    std::size_t columns[pack::kColumns] = {};
};

/// The layout of the pack at the beginning of `bytes`. Nothing: its sizes are impossible.
std::optional<PackLayout> pack_layout(std::span<const std::uint8_t> bytes);

/// What the flags of the chunk allow its packs.
struct PackRules {
    bool innermost = false;  ///< an unwound leave may name no function
    bool switches = false;   ///< the stack may be switched
};

/// Decodes the packs of one chunk, one after the other, into room that the caller has made. Keeps its tables;
/// one for each thread that decodes.
class PackDecoder {
  public:
    /// Where the next events go: there must be room for what the packs' headers say.
    struct Room {
        std::uint32_t* op = nullptr;
        std::uint64_t* tsc = nullptr;
        std::uint32_t* first_word = nullptr;    ///< null: no pack of the chunk has words
        std::uint64_t* instructions = nullptr;  ///< null: no pack of the chunk has them
        std::uint64_t* words = nullptr;         ///< one for each byte of the columns of words
        /// These grow only up to what is reserved.
        std::vector<EventColumns::Op>& ops;
        std::vector<EventColumns::Until>& untils;
        std::vector<pack::Mark>& marks;
        /// For leaves by unwinding: as many as any function has leave words.
        std::span<const std::uint64_t> zeros;
    };

    /// Moves `room` on behind what it has written. Nothing when the pack breaks any rule of
    /// docs/trace-format.md or contradicts `info`. An unwound leave that names no function is an event with
    /// pack::kInnermost. `bytes` is followed by varint::kSlack readable bytes.
    std::optional<EventColumns> decode(const PackLayout& layout, std::span<const std::uint8_t> bytes,
                                       const TraceInfo& info, const PackRules& rules, Room& room);

  private:
    class Run;

    std::vector<std::uint64_t> previous_;   // the last words of each op, one op after the other
    std::vector<std::size_t> previous_of_;  // by op
};

}  // namespace rdam::trace
