// The stack of chunks that are free, shared by all threads of the process and the agent: lock-free, safe
// against a chunk that comes back meanwhile (ABA) by a count of changes.
#pragma once

#include "libprobe/format/shared.h"

namespace rdam::shm {

/// `header_of(chunk)` is the chunk's ChunkHeader. `state`: free, or left.
template <class HeaderOf>
void push_free(Control& control, std::uint32_t chunk, HeaderOf header_of,
               ChunkState state = ChunkState::free) {
    ChunkHeader& header = header_of(chunk);
    header.state.store(state, std::memory_order_release);
    std::uint64_t top = control.free_chunks.load();
    std::uint64_t next = 0;
    do {
        header.next_free.store(static_cast<std::uint32_t>(top));
        next = ((top >> 32) + 1) << 32 | (chunk + 1);
    } while (!control.free_chunks.compare_exchange_weak(top, next));
    control.given_back.fetch_add(1);
}

/// What the list leads to is none of the free chunks: it has been emptied.
inline constexpr std::uint32_t kDamagedList = kNone - 1;

/// kNone: there is none. `may_be_free(chunk)` is asked before anything is read at a chunk.
template <class HeaderOf, class MayBeFree>
std::uint32_t pop_free(Control& control, HeaderOf header_of, MayBeFree may_be_free) {
    std::uint64_t top = control.free_chunks.load();
    while (static_cast<std::uint32_t>(top) != 0) {
        const std::uint32_t chunk = static_cast<std::uint32_t>(top) - 1;
        const bool good = may_be_free(chunk);
        const std::uint64_t next = good ? header_of(chunk).next_free.load(std::memory_order_relaxed) : 0;
        const std::uint64_t count = (top >> 32) + 1;
        if (control.free_chunks.compare_exchange_weak(top, count << 32 | next))
            return good ? chunk : kDamagedList;
    }
    return kNone;
}

}  // namespace rdam::shm
