// The payload of a packed event chunk (libprobe/format/pack.h): consecutive packs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libprobe/format/pack.h"

namespace rdam::trace {

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

}  // namespace rdam::trace
