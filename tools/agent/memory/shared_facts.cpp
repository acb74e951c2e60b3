#include "tools/agent/memory/shared_facts.h"

#include <algorithm>
#include <cstring>

namespace rdam::agent {
namespace {

/// The bytes may change while they are copied; the check shows whether they did.
template <class T>
T copy_of(const T& shared) {
    T copy;
    std::memcpy(&copy, &shared, sizeof copy);
    return copy;
}

bool is_end(std::uint32_t used) {
    return used >= shm::kChunkHeader && used <= shm::kChunkSize && used % sizeof(std::uint64_t) == 0;
}

/// A damaged one leads further rather than less far: what is behind the true end is seen to be none of it.
std::uint32_t end_of(const shm::Published::Loaded& used) {
    if (used.intact) return is_end(used.value) ? used.value : 0;
    const std::uint32_t larger = std::max(used.value, used.other);
    if (is_end(larger)) return larger;
    const std::uint32_t less = std::min(used.value, used.other);
    return is_end(less) ? less : 0;
}

/// Copies once; check and content may disagree for a moment while the thread is writing.
bool read_end(const shm::ThreadSlot& slot, ThreadFacts& facts) {
    const std::uint64_t check = slot.end_check;
    if (check == 0) return true;
    const auto end = copy_of(slot.end);
    if (shm::check_of(&end, sizeof end, facts.index) != check) return false;
    facts.end = end.end;
    facts.numbers = static_cast<std::uint32_t>(end.numbers);
    return true;
}

}  // namespace

std::optional<RingEntry> read_entry(std::uint32_t entry, std::uint32_t chunks) {
    if ((entry & shm::kEndedThread) != 0) {
        const std::uint32_t slot = entry & ~shm::kEndedThread;
        if (slot >= shm::kMaxThreads) return {};
        return RingEntry{.ended_thread = true, .index = slot};
    }
    if (entry - 1 >= chunks) return {};
    return RingEntry{.ended_thread = false, .index = entry - 1};
}

std::optional<ChunkFacts> look_at_chunk(const SharedMemory& shared, std::uint32_t chunk) {
    const shm::ChunkHeader& header = shared.chunk_header(chunk);
    const auto owner = copy_of(header.owner);
    if (shm::check_of(&owner, sizeof owner, 0) != copy_of(header.owner_check) || owner.chunk != chunk ||
        owner.slot >= shm::kMaxThreads ||
        (owner.kind != shm::ChunkKind::records && owner.kind != shm::ChunkKind::packed))
        return {};
    const auto sequence = header.sequence.load();
    // For chunks of records, it says which records are already packed.
    if (!sequence.intact && owner.kind == shm::ChunkKind::records) return {};
    const auto used = header.used.load();
    const auto number = header.number.load();
    ChunkFacts facts{.kind = owner.kind, .thread = owner.thread, .slot = owner.slot};
    facts.sequence = sequence.intact ? sequence.value : std::max(sequence.value, sequence.other);
    facts.used = end_of(used);
    facts.number = number.intact ? number.value : 0;
    facts.intact = sequence.intact && used.intact && number.intact && (facts.used != 0 || used.value == 0);
    return facts;
}

bool is_state(shm::ChunkState state) {
    using shm::ChunkState;
    return is_free(state) || state == ChunkState::owned || state == ChunkState::packing ||
           state == ChunkState::full || state == ChunkState::spent;
}

bool is_free(shm::ChunkState state) {
    return state == shm::ChunkState::free || state == shm::ChunkState::left;
}

std::optional<ThreadFacts> look_at_thread(const shm::ThreadSlot& slot) {
    constexpr int kLooks = 10;  // a thread that lives may be at it
    for (int i = 0; i < kLooks; ++i) {
        const auto begin = copy_of(slot.begin);
        if (shm::check_of(&begin, sizeof begin, 0) != copy_of(slot.begin_check)) continue;
        ThreadFacts facts{.index = begin.index,
                          .tid = begin.tid,
                          .start = begin.start,
                          .reopened = begin.reopened(),
                          .name = {begin.name, strnlen(begin.name, sizeof begin.name)}};
        const auto dropped = slot.dropped.load();
        facts.dropped = dropped.value;
        facts.intact = read_end(slot, facts) && dropped.intact;
        return facts;
    }
    return {};
}

std::optional<shm::Region> look_at_region(const shm::Control& control, std::uint32_t number) {
    if (number >= shm::kMaxRegions) return {};
    auto region = copy_of(control.regions[number]);
    if (shm::check_of(&region, offsetof(shm::Region, check), number) != region.check) return {};
    return region;
}

std::uint32_t used_chunks(const shm::Control& control, std::uint32_t chunks) {
    const auto fresh = control.fresh_chunks.load();
    if (fresh.intact) return std::min(fresh.value, chunks);
    const std::uint32_t larger = std::max(fresh.value, fresh.other);
    return larger <= chunks ? larger : std::min({fresh.value, fresh.other, chunks});
}

std::uint64_t windowed_since(const shm::Control& control, std::uint32_t number) {
    const auto since = control.windowed_since[number].load();
    return since.intact ? since.value : 1;
}

std::uint64_t told_end(const shm::Control& control) {
    const auto ended = control.ended.load();
    return ended.intact ? ended.value : 0;
}

}  // namespace rdam::agent
