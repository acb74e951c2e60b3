#include "libprobe/chunks.h"

#include <sys/prctl.h>

#include "libprobe/call_counts.h"
#include "libprobe/chunk_pool.h"
#include "libprobe/clock.h"
#include "libprobe/counter.h"
#include "libprobe/packing.h"
#include "libprobe/runtime.h"
#include "libprobe/sys.h"

namespace rdam::probe {
namespace {

constexpr std::uint64_t kParked = RDAM_CHUNK_LIMIT + 1;  ///< a cursor that belongs to no chunk
constexpr long kWaitMilliseconds = 100;

/// Where the next slot of the chunk would have begun; 0: the cursor has left the chunk for good.
std::uint32_t used_of(const ThreadState& thread, const shm::ChunkHeader& head) {
    const std::uint64_t used = thread.cursor - reinterpret_cast<std::uint64_t>(&head);
    return used <= shm::kChunkSize ? static_cast<std::uint32_t>(used) : 0;
}

/// The thread's slots become packs. Where they cannot, the chunk goes to the agent as it is, behind what is
/// packed: it can wait for a slot that is not written yet.
void empty_chunk(ThreadState& thread, std::uint64_t& waited) {
    publish_calls(thread, *thread.slot);
    const std::uint32_t chunk = thread.slot->chunk.load(std::memory_order_relaxed);
    if (chunk == shm::kNone) return;
    shm::ChunkHeader& head = header_of(chunk);
    const std::uint32_t used = used_of(thread, head);
    head.state.store(shm::ChunkState::packing);
    const bool packed = used != 0 && pack_slots(thread, used, waited);
    ++thread.slot->next_sequence;
    if (packed) {
        zero_bytes(reinterpret_cast<char*>(&head) + shm::kChunkHeader, used - shm::kChunkHeader);
        head.sequence.store(thread.slot->next_sequence, std::memory_order_release);
        head.state.store(shm::ChunkState::owned);
        // The agent sets the rates by what it has seen.
        if (globals.settings.max_overhead_ppm != 0) hand_over_packed(*thread.slot);
        return;
    }
    // Their enter events are in this chunk, if anywhere.
    thread.stacks.clear();
    head.used.store(used, std::memory_order_relaxed);
    thread.slot->chunk.store(shm::kNone, std::memory_order_relaxed);
    hand_over_packed(*thread.slot);
    hand_over_chunk(chunk);
}

void print_notice() {
    shm::Control& control = *globals.control;
    constexpr std::uint32_t kBeingPrinted = ~0u;
    std::uint32_t size = control.notice_size.load();
    if (size == 0 || size == kBeingPrinted ||
        !control.notice_size.compare_exchange_strong(size, kBeingPrinted))
        return;
    if (size <= sizeof control.notice) say(control.notice, size);
    control.notice_size.store(0);
}

/// The thread's own, or another. Where there is none left, what the thread has packed makes room.
std::uint32_t chunk_for_slots(shm::ThreadSlot& slot, std::uint64_t& waited) {
    std::uint32_t chunk = slot.chunk.load(std::memory_order_relaxed);
    if (chunk != shm::kNone) return chunk;
    chunk = acquire(slot, shm::ChunkKind::slots, waited);
    if (chunk == shm::kNone && slot.packed.load(std::memory_order_relaxed) != shm::kNone) {
        hand_over_packed(slot);
        chunk = acquire(slot, shm::ChunkKind::slots, waited);
    }
    if (chunk != shm::kNone) slot.chunk.store(chunk, std::memory_order_release);
    return chunk;
}

}  // namespace

bool begin_thread(ThreadState& thread, std::uint64_t start) {
    shm::Control& control = *globals.control;
    const std::uint32_t hint = control.thread_hint.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < shm::kMaxThreads; ++i) {
        const std::uint32_t at = (hint + i) % shm::kMaxThreads;
        shm::ThreadSlot& slot = control.threads[at];
        shm::ThreadState expected = shm::ThreadState::free;
        if (!slot.state.compare_exchange_strong(expected, shm::ThreadState::claimed)) continue;
        control.thread_hint.store(at + 1, std::memory_order_relaxed);
        slot.reopened = thread.ended ? 1 : 0;
        slot.index = thread.ended ? thread.before.index : control.threads_started.fetch_add(1);
        slot.tid = sys::gettid();
        slot.chunk.store(shm::kNone, std::memory_order_relaxed);
        slot.packed.store(shm::kNone, std::memory_order_relaxed);
        slot.start = thread.ended ? thread.before.start : start;
        slot.end = 0;
        slot.dropped = 0;
        slot.next_sequence = thread.ended ? thread.before.next_sequence : 0;
        sys::call(SYS_prctl, PR_GET_NAME, sys::word(slot.name));
        constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
        thread.random = (read_clock() ^ std::uint64_t{slot.tid} << 32) * kSpread;
        begin_publishing(thread, slot);
        slot.state.store(shm::ThreadState::live, std::memory_order_release);
        thread.slot = &slot;
        park(thread);
        if (!thread.ended) begin_counter(thread);
        // Behind the last destructor libc's memory for thread-specific data is gone.
        if (thread.ended)
            control.reopened.fetch_add(1);
        else if (globals.has_thread_key)
            globals.set_specific(globals.thread_key, &thread);
        return true;
    }
    return false;
}

void end_thread(ThreadState& thread) {
    if (thread.slot == nullptr) return;
    shm::ThreadSlot& slot = *thread.slot;
    slot.end = read_clock();
    sys::call(SYS_prctl, PR_GET_NAME, sys::word(slot.name));
    std::uint64_t waited = 0;
    empty_chunk(thread, waited);
    park(thread);
    if (const std::uint32_t chunk = slot.chunk.exchange(shm::kNone); chunk != shm::kNone) release(chunk);
    hand_over_packed(*thread.slot);
    end_counter(thread);
    thread.slot = nullptr;
    thread.ended = true;
    thread.before = {slot.index, slot.next_sequence, slot.start};
    if (slot.reopened != 0) globals.control->reopened.fetch_sub(1);
    slot.state.store(shm::ThreadState::ended, std::memory_order_release);
    shm::Control& control = *globals.control;
    const std::uint32_t waiting = control.threads_ended.fetch_add(1) + 1 - control.threads_done.load();
    hand_over_thread(slot);
    if (waiting % shm::kManyEnded == 0) call_agent();
}

void take_all_rates() {
    const shm::Control& control = *globals.control;
    globals.rates_seen.store(control.rates_changed.load());
    for (std::uint32_t i = 0; i < globals.functions; ++i)
        rdam_functions[i].rate = control.rates[i].load(std::memory_order_relaxed);
}

bool change_chunk(ThreadState& thread) {
    const std::uint64_t begin = read_clock();
    if (globals.control->notice_size.load(std::memory_order_relaxed) != 0) print_notice();
    if (globals.control->rates_changed.load() != globals.rates_seen.load()) take_all_rates();
    std::uint64_t waited = 0;
    empty_chunk(thread, waited);
    park(thread);
    const std::uint32_t chunk = chunk_for_slots(*thread.slot, waited);
    if (chunk == shm::kNone) return false;
    shm::ChunkHeader& head = header_of(chunk);
    auto* slot = reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(&head) + shm::kChunkHeader);
    slot[0] = begin;
    slot[2] = read_clock();
    const auto reason = waited != 0 ? shm::Pause::buffer_full : shm::Pause::new_chunk;
    std::atomic_ref<std::uint64_t>{slot[1]}.store(
        shm::make_head(shm::SlotKind::pause, 1, static_cast<std::uint32_t>(reason)),
        std::memory_order_release);
    thread.cursor = reinterpret_cast<std::uint64_t>(slot + 3);
    return true;
}

std::uint64_t* take_slot(ThreadState& thread, std::uint32_t size) {
    if (thread.cursor % shm::kChunkSize + size > shm::kChunkLimit && !change_chunk(thread)) return nullptr;
    auto* slot = reinterpret_cast<std::uint64_t*>(thread.cursor);
    thread.cursor += size;
    return slot;
}

void announce_events() {
    if (globals.control->has_events.load(std::memory_order_relaxed) != 0) return;
    shm::Control& control = *globals.control;
    if (control.has_events.exchange(1) == 0) wake_agent();
    // From here on whoever looks for the trace finds it, and waits for it to be closed: also when the program
    // is killed in a moment.
    while (control.file_futex.load() == 0)
        if (sys::futex_wait(&control.file_futex, 0, kWaitMilliseconds) < 0 && !agent_alive()) return;
}

void count_dropped(ThreadState& thread) {
    thread.stacks.clear();
    if (thread.slot != nullptr)
        ++thread.slot->dropped;
    else if (globals.control != nullptr)
        (thread.lent ? globals.control->lent : globals.control->dropped).fetch_add(1);
}

void park(ThreadState& thread) {
    thread.cursor = kParked;
}

}  // namespace rdam::probe
