#include "libprobe/event/chunks.h"

#include <sys/prctl.h>

#include "libprobe/base/filter.h"
#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/event/budget.h"
#include "libprobe/event/call_counts.h"
#include "libprobe/event/chunk_pool.h"
#include "libprobe/event/clock.h"
#include "libprobe/event/counter.h"
#include "libprobe/event/packing.h"

namespace rdam::probe {
namespace {

constexpr std::uint64_t kParked = RDAM_CHUNK_LIMIT + 1;  ///< a cursor that belongs to no chunk

/// Parks the cursor: a handler that comes from here on does not write into the chunk. Where the next record
/// of the chunk would have begun; 0: the cursor has left the chunk permanently.
std::uint32_t stop_at(ThreadState& thread, const shm::ChunkHeader& head) {
    const std::uint64_t cursor = std::atomic_ref{thread.cursor}.exchange(kParked);
    const std::uint64_t used = cursor - reinterpret_cast<std::uint64_t>(&head);
    return used <= shm::kChunkSize ? static_cast<std::uint32_t>(used) : 0;
}

void set_chunk(ThreadState& thread, std::uint32_t chunk) {
    thread.own.chunk = chunk;
    thread.slot->chunk.store(chunk, std::memory_order_release);
}

/// The thread's records become packs. Where they cannot, the chunk goes to the agent as it is, behind what is
/// packed: it can wait for a record that is not written yet.
void empty_chunk(ThreadState& thread, std::uint64_t& waited) {
    publish_calls(thread, *thread.slot);
    const std::uint32_t chunk = thread.own.chunk;
    if (chunk == shm::kNone) return;
    shm::ChunkHeader& head = header_of(chunk);
    const std::uint32_t used = stop_at(thread, head);
    head.state.store(shm::ChunkState::packing);
    const bool packed = used != 0 && pack_records(thread, used, waited);
    ++thread.own.sequence;
    if (packed) {
        zero_bytes(reinterpret_cast<char*>(&head) + shm::kChunkHeader, used - shm::kChunkHeader);
        head.sequence.store(thread.own.sequence);
        head.state.store(shm::ChunkState::owned);
        return;
    }
    // Their enter events are in this chunk, if anywhere.
    thread.stacks.clear();
    head.used.store(used, std::memory_order_relaxed);
    set_chunk(thread, shm::kNone);
    hand_over_packed(thread);
    head.number.store(++thread.own.number);
    hand_over_chunk(chunk);
}

void print_notice() {
    shm::Control& control = *globals.control;
    constexpr std::uint32_t kBeingPrinted = ~0u;
    std::uint32_t size = control.notice_size.load();
    if (size == 0 || size == kBeingPrinted ||
        !control.notice_size.compare_exchange_strong(size, kBeingPrinted))
        return;
    if (size <= sizeof control.notice) say_lines(control.notice, size);
    control.notice_size.store(0);
}

/// The thread's own, or another. Where there is none left, what the thread has packed makes room.
std::uint32_t chunk_for_records(ThreadState& thread, std::uint64_t& waited) {
    if (thread.own.chunk != shm::kNone) return thread.own.chunk;
    std::uint32_t chunk = acquire(thread, shm::ChunkKind::records, waited);
    if (chunk == shm::kNone && thread.own.packed != shm::kNone) {
        hand_over_packed(thread);
        chunk = acquire(thread, shm::ChunkKind::records, waited);
    }
    if (chunk != shm::kNone) set_chunk(thread, chunk);
    return chunk;
}

/// The record of a pause that has ended now.
void mark_pause(std::uint64_t* record, std::uint64_t begin, shm::Pause reason) {
    record[0] = begin;
    record[2] = read_clock();
    std::atomic_ref<std::uint64_t>{record[1]}.store(
        shm::make_head(shm::RecordKind::pause, 1, static_cast<std::uint32_t>(reason)),
        std::memory_order_release);
}

/// The state alone may be damaged: another thread that lives may have the slot. Of one that is gone without a
/// word only the agent knows.
bool claim(shm::ThreadSlot& slot, std::atomic<std::uint8_t>& taken) {
    shm::ThreadSlotState state = slot.state.load();
    const bool left = state == shm::ThreadSlotState::left;
    if (!left && (state != shm::ThreadSlotState::free || taken.load() != 0)) return false;
    if (!slot.state.compare_exchange_strong(state, shm::ThreadSlotState::claimed)) return false;
    taken.store(1);
    return true;
}

std::uint32_t new_index(shm::Control& control) {
    const std::uint32_t index = own_copies.threads_started.fetch_add(1);
    control.threads_started.store(own_copies.threads_started.load());
    return index;
}

}  // namespace

void tell_begin(ThreadState& thread) {
    shm::ThreadSlot& slot = *thread.slot;
    shm::ThreadSlot::Begin begin = {
        .index = thread.own.index,
        .tid = own_tid(),
        .start = thread.own.start,
        .counting = thread.ended ? 0 : reinterpret_cast<std::uint64_t>(thread.gate_calls),
        .name = {}};
    if (sys::call(SYS_prctl, PR_GET_NAME, sys::word(thread.name)) != 0)
        thread.name[sizeof thread.name - 1] = 0;
    copy_bytes(begin.name, thread.name, sizeof begin.name);
    slot.begin = begin;
    slot.begin_check = shm::check_of(&begin, sizeof begin, 0);
}

bool begin_thread(ThreadState& thread, std::uint64_t start) {
    shm::Control& control = *globals.control;
    if (is_filtered() && own_tid() == 0) return false;
    const std::uint32_t hint = control.thread_hint.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < shm::kMaxThreads; ++i) {
        const std::uint32_t at = (hint + i) % shm::kMaxThreads;
        shm::ThreadSlot& slot = control.threads[at];
        if (!claim(slot, own_copies.slots[at])) continue;
        control.thread_hint.store(at + 1, std::memory_order_relaxed);
        if (!thread.ended) thread.own = {.index = new_index(control), .start = start};
        thread.slot = &slot;
        own_copies.states[at].store(&thread);
        thread.dropped = 0;
        slot.chunk.store(shm::kNone, std::memory_order_relaxed);
        slot.packed.store(shm::kNone, std::memory_order_relaxed);
        slot.end_check = 0;
        slot.dropped.store(0);
        tell_begin(thread);
        begin_publishing(thread, slot);
        slot.state.store(shm::ThreadSlotState::live, std::memory_order_release);
        park(thread);
        if (!thread.ended) begin_counter(thread);
        open_account(thread);
        // From outside a PID namespace the thread can be found only while it lives.
        if (own_copies.agent_pid.load() == 0 && !is_filtered()) call_agent();
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
    if (thread.vfork_alone) come_back(thread);
    shm::ThreadSlot& slot = *thread.slot;
    shm::ThreadSlot::End end = {.end = read_clock(), .numbers = 0};
    tell_begin(thread);
    std::uint64_t waited = 0;
    empty_chunk(thread, waited);
    close_account(thread);
    park(thread);
    if (const std::uint32_t chunk = thread.own.chunk; chunk != shm::kNone) {
        set_chunk(thread, shm::kNone);
        release(chunk);
    }
    hand_over_packed(thread);
    end_counter(thread);
    end.numbers = thread.own.number;
    slot.end = end;
    slot.end_check = shm::check_of(&end, sizeof end, thread.own.index);
    thread.slot = nullptr;
    shm::Control& control = *globals.control;
    if (thread.ended) control.reopened.fetch_sub(1);
    thread.ended = true;
    const auto at = static_cast<std::uint32_t>(&slot - control.threads);
    slot.state.store(shm::ThreadSlotState::ended, std::memory_order_release);
    own_copies.states[at].store(nullptr);
    own_copies.slots[at].store(0);
    const std::uint32_t ended = own_copies.threads_ended.fetch_add(1) + 1;
    control.threads_ended.store(own_copies.threads_ended.load());
    hand_over_thread(slot);
    if ((ended - control.threads_done.load()) % shm::kManyEnded == 0) call_agent();
}

bool change_chunk(ThreadState& thread) {
    const std::uint64_t begin = read_clock();
    if (globals.control->notice_size.load(std::memory_order_relaxed) != 0 && !is_filtered()) print_notice();
    std::uint64_t waited = 0;
    empty_chunk(thread, waited);
    park(thread);
    const std::uint32_t chunk = chunk_for_records(thread, waited);
    if (chunk == shm::kNone) return false;
    shm::ChunkHeader& head = header_of(chunk);
    auto* slot = reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(&head) + shm::kChunkHeader);
    mark_pause(slot, begin, waited != 0 ? shm::Pause::buffer_full : shm::Pause::new_chunk);
    spend_pause(thread, slot[2] - begin, waited != 0);
    thread.cursor = reinterpret_cast<std::uint64_t>(slot + shm::kPauseRecordWords);
    return true;
}

std::uint64_t* take_record(ThreadState& thread, std::uint32_t size) {
    if (thread.cursor % shm::kChunkSize + size > shm::kChunkLimit && !change_chunk(thread)) return nullptr;
    // One instruction: under a filter a handler may come, whose events take what follows. Behind the limit
    // there is room for it.
    std::uint64_t at = size;
    asm volatile("xadd %0, %1" : "+r"(at), "+m"(thread.cursor) : : "memory");
    if ((at & (shm::kChunkSize - 1)) <= shm::kChunkLimit) return reinterpret_cast<std::uint64_t*>(at);
    park(thread);
    return nullptr;
}

void announce_events(ThreadState& thread) {
    if (globals.control->has_events.load(std::memory_order_relaxed) != 0) return;
    shm::Control& control = *globals.control;
    if (control.has_events.exchange(1) == 0) wake_agent();
    // From here on a reader finds the trace, and waits until it is closed, even if the program is killed in a
    // moment. Under a filter there is no waiting: the agent looks by itself.
    if (is_filtered()) return;
    const sys::BlockSignals blocked;
    const bool own = thread.slot != nullptr && thread.vfork_cursor == 0;
    std::uint64_t* const record =
        own ? take_record(thread, shm::kPauseRecordWords * sizeof(std::uint64_t)) : nullptr;
    const std::uint64_t begin = read_clock();
    while (control.file_futex.load() == 0) {
        if (sys::futex_wait(&control.file_futex, 0, kWaitMilliseconds) < 0 && !agent_alive()) break;
        control.has_events.store(1);
    }
    if (record != nullptr) mark_pause(record, begin, shm::Pause::other);
}

bool come_back(ThreadState& thread) {
    const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    if (!thread.vfork_alone || here < thread.stack.low || here >= thread.stack.high) return false;
    thread.vfork_alone = false;
    thread.cursor = thread.vfork_cursor;
    thread.vfork_cursor = 0;
    return true;
}

void drop_disturbed(ThreadState& thread) {
    if (!rdam_guard.active()) return;
    globals.control->disturbed.add(1);
    if (thread.slot == nullptr || thread.own.chunk == shm::kNone) return park(thread);
    const auto begin = reinterpret_cast<std::uint64_t>(&header_of(thread.own.chunk));
    const std::uint64_t used = thread.cursor - begin;
    constexpr std::uint64_t kFull = shm::kChunkLimit + sizeof(std::uint64_t);
    if (used > shm::kChunkSize)
        park(thread);
    else if (used > shm::kChunkLimit)
        thread.cursor = begin + kFull;
}

void count_dropped(ThreadState& thread) {
    thread.stacks.clear();
    // A record that says on which stack the thread is may be among those that are missing.
    if (thread.on_stack != 0) thread.stack_high = 0;
    if (thread.slot != nullptr)
        thread.slot->dropped.store(++thread.dropped);
    else if (globals.control != nullptr)
        (thread.clockless ? globals.control->counterless
         : thread.lent    ? globals.control->lent
                          : globals.control->dropped)
            .add(1);
}

void park(ThreadState& thread) {
    thread.cursor = kParked;
}

}  // namespace rdam::probe
