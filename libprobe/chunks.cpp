#include "libprobe/chunks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "libprobe/clock.h"
#include "libprobe/counter.h"
#include "libprobe/runtime.h"
#include "libprobe/sys.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace rdam::probe {
namespace {

constexpr std::uint64_t kParked = RDAM_CHUNK_LIMIT + 1;  ///< a cursor that belongs to no chunk
constexpr long kWaitMilliseconds = 100;
constexpr std::uint32_t kMostUnsure = 50;

shm::ChunkHeader& header(std::uint32_t chunk) {
    return *reinterpret_cast<shm::ChunkHeader*>(reinterpret_cast<char*>(globals.control) +
                                                shm::kChunksOffset + std::uint64_t{chunk} * shm::kChunkSize);
}

void wake_agent() {
    shm::Control& control = *globals.control;
    control.work_futex.fetch_add(1);
    if (control.agent_sleeps.load() != 0) sys::futex_wake(&control.work_futex, 1);
}

void push(std::uint32_t entry) {
    shm::Control& control = *globals.control;
    const std::uint32_t at = control.ring_tail.fetch_add(1);
    control.ring[at % shm::kRingSize].store(entry, std::memory_order_release);
    wake_agent();
}

std::uint32_t pop_free() {
    shm::Control& control = *globals.control;
    std::uint64_t top = control.free_chunks.load();
    while (static_cast<std::uint32_t>(top) != 0) {
        const std::uint32_t chunk = static_cast<std::uint32_t>(top) - 1;
        const std::uint64_t next = header(chunk).next_free.load(std::memory_order_relaxed);
        const std::uint64_t count = (top >> 32) + 1;
        if (control.free_chunks.compare_exchange_weak(top, count << 32 | next)) return chunk;
    }
    return shm::kNone;
}

/// A chunk nobody has used yet. Its pages are put in place here, by the thread that will write to them; that
/// the memory may not be there is an error here and would be a SIGBUS later.
std::uint32_t take_fresh() {
    shm::Control& control = *globals.control;
    std::uint32_t fresh = control.fresh_chunks.load();
    do {
        if (fresh >= control.chunks) return shm::kNone;
    } while (!control.fresh_chunks.compare_exchange_weak(fresh, fresh + 1));
    const long place = sys::word(&header(fresh));
    if (sys::call(SYS_mprotect, place, shm::kChunkSize, PROT_READ | PROT_WRITE) != 0 ||
        sys::call(SYS_madvise, place, shm::kChunkSize, MADV_POPULATE_WRITE) != 0) {
        control.out_of_memory.store(1);
        // Not even its header is there to be looked at.
        std::uint32_t next = fresh + 1;
        control.fresh_chunks.compare_exchange_strong(next, fresh);
        return shm::kNone;
    }
    return fresh;
}

std::uint32_t acquire(std::uint64_t& waited) {
    shm::Control& control = *globals.control;
    for (;;) {
        const std::uint32_t ticket = control.free_futex.load();
        if (const std::uint32_t chunk = pop_free(); chunk != shm::kNone) return chunk;
        if (control.out_of_memory.load() == 0)
            if (const std::uint32_t chunk = take_fresh(); chunk != shm::kNone) return chunk;
        if (control.drop_when_full != 0) return shm::kNone;
        // With nothing on its way to the agent no chunk will come back: each belongs to a thread that may
        // never fill it.
        const bool held = control.held.load() != 0;
        if (control.ring_head.load() == control.ring_tail.load() && !held &&
            static_cast<std::uint32_t>(control.free_chunks.load()) == 0)
            return shm::kNone;
        control.waiters.fetch_add(1);
        if (waited == 0) call_agent();
        waited = 1;
        if (held) wake_agent();
        const long result = sys::futex_wait(&control.free_futex, ticket, kWaitMilliseconds);
        control.waiters.fetch_sub(1);
        if (result < 0 && !agent_alive()) {
            rdam_guard.deactivate();
            return shm::kNone;
        }
    }
}

void hand_over(ThreadState& thread) {
    const std::uint32_t chunk = thread.slot->chunk.load(std::memory_order_relaxed);
    if (chunk == shm::kNone) return;
    shm::ChunkHeader& head = header(chunk);
    const auto begin = reinterpret_cast<std::uint64_t>(&head);
    head.used = static_cast<std::uint32_t>(thread.cursor - begin);
    head.state.store(shm::ChunkState::full, std::memory_order_release);
    thread.slot->chunk.store(shm::kNone, std::memory_order_relaxed);
    push(1 + chunk);
}

}  // namespace

void call_agent() {
    shm::Control& control = *globals.control;
    control.urgent_futex.fetch_add(1);
    sys::futex_wake(&control.urgent_futex, 1);
    control.work_futex.fetch_add(1);
    sys::futex_wake(&control.work_futex, 1);
}

bool agent_alive() {
    const long fd = sys::call(SYS_pidfd_open, globals.control->agent_pid.load());
    if (sys::failed(fd)) {
        // No descriptor is left, or the call is forbidden: a signal that is none may tell, but not of a
        // zombie.
        if (fd == -ESRCH || sys::call(SYS_kill, globals.control->agent_pid.load(), 0) == -ESRCH) return false;
        if (globals.unsure.fetch_add(1) < kMostUnsure) return true;
        globals.control->gave_up.store(1);
        return false;
    }
    globals.unsure.store(0);
    pollfd wait{static_cast<int>(fd), POLLIN, 0};
    const long ready = sys::call(SYS_poll, sys::word(&wait), 1, 0);
    sys::call(SYS_close, fd);
    return ready == 0;
}

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
        slot.start = thread.ended ? thread.before.start : start;
        slot.end = 0;
        slot.dropped = 0;
        slot.next_sequence = thread.ended ? thread.before.next_sequence : 0;
        sys::call(SYS_prctl, PR_GET_NAME, sys::word(slot.name));
        constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
        thread.random = (read_clock() ^ std::uint64_t{slot.tid} << 32) * kSpread;
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
    hand_over(thread);
    park(thread);
    end_counter(thread);
    thread.slot = nullptr;
    thread.ended = true;
    thread.before = {slot.index, slot.next_sequence, slot.start};
    if (slot.reopened != 0) globals.control->reopened.fetch_sub(1);
    slot.state.store(shm::ThreadState::ended, std::memory_order_release);
    shm::Control& control = *globals.control;
    const std::uint32_t waiting = control.threads_ended.fetch_add(1) + 1 - control.threads_done.load();
    push(shm::kEndedThread | static_cast<std::uint32_t>(&slot - control.threads));
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
    if (globals.control->rates_changed.load() != globals.rates_seen.load()) take_all_rates();
    hand_over(thread);
    park(thread);
    std::uint64_t waited = 0;
    const std::uint32_t chunk = acquire(waited);
    if (chunk == shm::kNone) return false;
    shm::ChunkHeader& head = header(chunk);
    head.thread = thread.slot->index;
    head.slot = static_cast<std::uint32_t>(thread.slot - globals.control->threads);
    head.sequence = thread.slot->next_sequence++;
    head.state.store(shm::ChunkState::owned, std::memory_order_release);
    thread.slot->chunk.store(chunk, std::memory_order_release);
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
    if (thread.slot != nullptr)
        ++thread.slot->dropped;
    else if (globals.control != nullptr)
        (thread.lent ? globals.control->lent : globals.control->dropped).fetch_add(1);
}

void park(ThreadState& thread) {
    thread.cursor = kParked;
}

}  // namespace rdam::probe
