#include "tools/agent/chunk_parser.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace rdam::agent {

std::uint64_t ChunkParser::word(std::size_t at) const {
    auto* memory = const_cast<std::uint64_t*>(reinterpret_cast<const std::uint64_t*>(bytes_.data() + at));
    return std::atomic_ref<std::uint64_t>{*memory}.load(std::memory_order_acquire);
}

bool ChunkParser::read(std::size_t at, Slot& slot, std::size_t& size) const {
    if (bytes_.size() < at + 16) return false;
    const shm::Head head{word(at + 8)};
    slot.kind = head.kind();
    slot.function = head.function();
    slot.cpu = head.cpu();
    slot.rate = head.rate();
    slot.tsc = word(at);
    slot.instructions = 0;
    const auto* words = reinterpret_cast<const std::uint64_t*>(bytes_.data() + at);
    if ((slot.rate & ~(RDAM_RATE_TREE | RDAM_MOST_RATE)) != 0) return false;
    const std::size_t count_bytes = head.counted() ? sizeof(std::uint64_t) : 0;
    const auto known = [&](const std::vector<std::uint16_t>& counts) {
        return slot.function < counts.size() && counts[slot.function] == head.words();
    };
    switch (slot.kind) {
        case shm::SlotKind::enter:
        case shm::SlotKind::tail_enter:
            size = 24 + 8 * std::size_t{head.words()} + count_bytes;
            if (!known(rules_.enter_words) || bytes_.size() < at + size) return false;
            slot.caller = words[2];
            slot.words = {words + 3, head.words()};
            if (head.counted()) slot.instructions = words[3 + head.words()];
            return true;
        case shm::SlotKind::leave:
            size = 16 + 8 * std::size_t{head.words()} + count_bytes;
            if (!known(rules_.leave_words) || bytes_.size() < at + size) return false;
            slot.words = {words + 2, head.words()};
            if (head.counted()) slot.instructions = words[2 + head.words()];
            return true;
        case shm::SlotKind::unwound:
            size = 16;
            slot.words = {};
            return slot.function < rules_.leave_words.size() || slot.function == shm::kInnermostFunction;
        case shm::SlotKind::pause:
            size = 24;
            if (bytes_.size() < at + size) return false;
            slot.until = words[2];
            return slot.function <= static_cast<std::uint32_t>(shm::Pause::other);
        case shm::SlotKind::stack:
            size = shm::kStackSlotWords * sizeof(std::uint64_t);
            if (bytes_.size() < at + size) return false;
            slot.until = words[2];
            return slot.function < rules_.enter_words.size();
        case shm::SlotKind::none:
            break;
    }
    return false;
}

/// Where the next slot begins behind a hole; the end of the chunk: there is none.
std::size_t ChunkParser::find_next() const {
    Slot slot;
    std::size_t size = 0;
    const auto* begin = reinterpret_cast<const std::uint64_t*>(bytes_.data() + at_);
    const auto* end = reinterpret_cast<const std::uint64_t*>(bytes_.data() + bytes_.size());
    for (const auto* from = begin; from < end;) {
        // A slot begins one word before its head.
        const auto* nonzero = std::find_if(from, end, [](std::uint64_t value) { return value != 0; });
        if (nonzero == end) break;
        for (const auto* start : {nonzero - 1, nonzero}) {
            const auto at =
                static_cast<std::size_t>(reinterpret_cast<const std::uint8_t*>(start) - bytes_.data());
            if (at > at_ && at <= shm::kChunkLimit && read(at, slot, size)) return at;
        }
        from = nonzero + 1;
    }
    return bytes_.size();
}

ChunkParser::Step ChunkParser::next(Slot& slot) {
    // A slot that begins behind the limit was given up by its probe, which took one in the next chunk.
    if (at_ > shm::kChunkLimit || (used_ != 0 && at_ >= used_)) return Step::end;
    std::size_t size = 0;
    if (read(at_, slot, size)) {
        at_ += size;
        return Step::slot;
    }
    return used_ != 0 || find_next() < bytes_.size() ? Step::hole : Step::end;
}

void ChunkParser::skip_hole() {
    ++holes_;
    at_ = find_next();
}

}  // namespace rdam::agent
