#include "analyzer/score/call_batch.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>

namespace rdam::score {
namespace {

constexpr std::size_t kBlockBytes = 16384;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Not written, so that what is never used takes no memory.
BatchedCall* allocate_calls(std::size_t calls) {
    static_assert(std::is_trivially_copyable_v<BatchedCall> && std::is_trivially_destructible_v<BatchedCall>);
    const std::size_t bytes = calls * sizeof(BatchedCall);
    const std::size_t alignment = bytes >= kHugePage ? kHugePage : alignof(std::max_align_t);
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* const memory = std::aligned_alloc(alignment, rounded);
    if (memory == nullptr) throw std::bad_alloc{};
    // Many blocks are written in turns. Where it is refused small pages do.
    if (alignment == kHugePage) madvise(memory, rounded, MADV_HUGEPAGE);
    return static_cast<BatchedCall*>(memory);
}

}  // namespace

void CallBatch::Free::operator()(BatchedCall* calls) const {
    std::free(calls);  // NOLINT(cppcoreguidelines-no-malloc): of aligned_alloc
}

CallBatch::CallBatch(std::size_t bytes) {
    const std::size_t calls = std::min(bytes / sizeof(BatchedCall), kMaxCalls);
    blocks_ = std::max(2 * kPartitions, bytes / kBlockBytes);
    block_calls_ = std::max<std::size_t>(calls / blocks_, 1);
    most_keys_ = bytes / sizeof(std::uint64_t) / 2;
    calls_.reset(allocate_calls(blocks_ * block_calls_));
    next_.resize(blocks_);
    clear();
}

void CallBatch::add_block(Partition& partition) {
    const auto block = static_cast<std::uint32_t>(blocks_used_++);
    next_[block] = kNone;
    if (partition.last == kNone)
        partition.first = block;
    else
        next_[partition.last] = block;
    partition.last = block;
    partition.used = 0;
}

void CallBatch::clear() {
    // The first call of each asks for a block.
    partitions_.fill({.used = block_calls_});
    keys_.clear();
    blocks_used_ = 0;
    size_ = 0;
}

}  // namespace rdam::score
