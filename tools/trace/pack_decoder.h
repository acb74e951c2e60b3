// Decodes packs into events. The input is untrusted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tools/trace/column_reader.h"
#include "tools/trace/event.h"
#include "tools/trace/packs.h"

namespace rdam::trace {

/// What the flags of the chunk allow its packs.
struct PackRules {
    bool innermost = false;  ///< an unwound leave may name no function
    bool switches = false;   ///< the stack may be switched
};

/// Decodes the packs of one chunk, one after the other, into room that the caller has made. Keeps its tables;
/// one for each thread that decodes.
class PackDecoder {
  public:
    /// Where the next events and their words go. Both must have room for what the pack's header says:
    /// `events`, and a word for each byte of its column of words.
    struct Room {
        Event* events = nullptr;
        std::uint64_t* words = nullptr;
        std::span<const std::uint64_t>
            zeros;  ///< for leaves by unwinding: as many as any function has leave words
    };

    /// Moves `room` on behind what it has written. False when the pack breaks any rule of
    /// docs/trace-format.md or contradicts `info`. An unwound leave that names no function is an event with
    /// pack::kInnermost. `bytes` is followed by varint::kSlack readable bytes.
    bool decode(const PackLayout& layout, std::span<const std::uint8_t> bytes, const TraceInfo& info,
                const PackRules& rules, Room& room);

  private:
    class Run;

    /// An op, and what its events have in common.
    struct Known {
        Event event;
        std::size_t previous = 0;  ///< where in previous_ its last words are
        std::uint8_t words = 0;
        bool counted = false;
        bool unwound = false;
    };
    bool read_ops(const PackLayout& layout, std::span<const std::uint8_t> bytes, const TraceInfo& info,
                  const PackRules& rules);

    std::vector<Known> ops_;
    std::vector<std::uint64_t> previous_;
};

}  // namespace rdam::trace
