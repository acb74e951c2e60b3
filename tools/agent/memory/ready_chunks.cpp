#include "tools/agent/memory/ready_chunks.h"

#include <algorithm>
#include <cerrno>

#include "libprobe/format/shared.h"

namespace rdam::agent {
namespace {

constexpr std::uint32_t kAhead = 64;
constexpr std::uint32_t kForWaiters = 256;

}  // namespace

void ReadyChunks::look() {
    shm::Control& control = shared_.control();
    if (control.filtered.load() != shm::kFilterSeen || out_of_memory_) return;
    const std::uint32_t all = shared_.start().chunks;
    const std::uint32_t taken = std::min(control.fresh_chunks.load().value, all);
    if (ready_ == 0) ready_ = std::min(control.ready_chunks.load(), all);
    // As many as two such turns would take.
    const std::uint32_t used = taken > taken_ ? taken - taken_ : 0;
    taken_ = taken;
    const std::uint32_t ahead = std::max(control.waiters.load() != 0 ? kForWaiters : kAhead, 2 * used);
    const std::uint32_t wanted = ahead < all - taken ? taken + ahead : all;
    // Threads without a filter take chunks beyond those that are ready.
    const std::uint32_t from = std::max(ready_, taken);
    if (wanted > from) {
        const std::size_t size = std::size_t{wanted - from} * shm::kChunkSize;
        if (madvise(shared_.chunk(from), size, MADV_POPULATE_WRITE) != 0) {
            out_of_memory_ = true;
            control.out_of_memory.store(static_cast<std::uint32_t>(errno));
            return;
        }
        ready_ = wanted;
    }
    control.ready_chunks.store(ready_);
}

}  // namespace rdam::agent
