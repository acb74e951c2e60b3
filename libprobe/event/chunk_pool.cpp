#include "libprobe/event/chunk_pool.h"

#include <errno.h>
#include <poll.h>
#include <sys/mman.h>

#include "libprobe/base/filter.h"
#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/format/free_list.h"
#include "libprobe/format/shared.h"

namespace rdam::probe {
namespace {

constexpr std::uint32_t kMaxUnsure = 50;

/// The agent looks by itself some ten times a second: waking it for every chunk would cost more than its
/// work.
constexpr std::uint32_t kWorthWaking = 8;
/// What an ended thread leaves is little work. Woken where threads end, the agent would have a processor just when the
/// program starts the next ones, and the kernel would put these onto one of the others, together.
constexpr std::uint32_t kEndsWorthWaking = 64;

/// Whichever thread publishes last publishes the true value.
void tell_tail() {
    std::uint32_t tail = own_copies.ring_tail.load();
    for (std::uint32_t stored = ~tail; stored != tail; tail = own_copies.ring_tail.load())
        globals.control->ring_tail.store(stored = tail);
}

/// `full`: as much work as a chunk can be.
void push(std::uint32_t entry, bool full) {
    shm::Control& control = *globals.control;
    const std::uint32_t at = own_copies.ring_tail.fetch_add(1);
    control.ring[at % shm::kRingSize].store(entry, std::memory_order_release);
    tell_tail();
    const std::uint32_t left = at - control.ring_head.load(std::memory_order_relaxed) + 1;
    const std::uint32_t some =
        own_copies.chunks / 4 < kEndsWorthWaking ? own_copies.chunks / 4 : kEndsWorthWaking;
    const bool due = left >= (full ? kWorthWaking : some);
    if (is_filtered()) return;
    if (due || own_copies.waiters.load() != 0) wake_agent();
}

/// 0: the chunk is accessible, and its memory is there.
long give_memory(std::uint32_t chunk) {
    const long place = sys::word(&header_of(chunk));
    const long done = own_copies.opened.load() != 0
                          ? 0
                          : sys::call(SYS_mprotect, place, shm::kChunkSize, PROT_READ | PROT_WRITE);
    return done == 0 ? sys::call(SYS_madvise, place, shm::kChunkSize, MADV_POPULATE_WRITE) : done;
}

/// Under a filter: chunks behind these have no memory yet.
std::uint32_t ready_chunks() {
    if (own_copies.opened.load() == 0) return 0;
    const std::uint32_t ready = globals.control->ready_chunks.load();
    return ready < own_copies.chunks ? ready : own_copies.chunks;
}

/// Takes a chunk that has not been used yet. Its pages are populated here, by the thread that will write to
/// them: a lack of memory is an error here, and would be a SIGBUS later.
std::uint32_t take_fresh() {
    std::uint32_t fresh = own_copies.fresh_chunks.load();
    const bool filtered = is_filtered();
    const std::uint32_t end = filtered ? ready_chunks() : own_copies.chunks;
    do {
        if (fresh >= end) return shm::kNone;
    } while (!own_copies.fresh_chunks.compare_exchange_weak(fresh, fresh + 1));
    // Before anything that takes time: a thread may be killed here, and others have chunks behind this one.
    globals.control->fresh_chunks.count_up();
    if (const long done = filtered ? 0 : give_memory(fresh); done != 0) {
        own_copies.out_of_memory.store(1);
        globals.control->out_of_memory.store(static_cast<std::uint32_t>(-done));
        // Not even its header is there to be looked at.
        std::uint32_t next = fresh + 1;
        if (own_copies.fresh_chunks.compare_exchange_strong(next, fresh))
            globals.control->fresh_chunks.count_down();
        return shm::kNone;
    }
    own_copies.places[fresh].store(kTaken);
    return fresh;
}

/// The place of a chunk that the agent has given back; kNotThere: it has not. If the thread of the chunk was
/// gone, the agent says so: nobody else could.
ChunkPlace place_if_free(std::uint32_t chunk) {
    if (chunk >= own_copies.chunks) return kNotThere;
    const std::uint8_t place = own_copies.places[chunk].load();
    if (place == kNotThere) return kNotThere;
    const shm::ChunkState state = header_of(chunk).state.load();
    if (place == kAway && state == shm::ChunkState::free) return kAway;
    return place == kTaken && state == shm::ChunkState::left ? kTaken : kNotThere;
}

/// The list is trusted only as long as it leads to free chunks. Otherwise the program has written into it,
/// and its chunks are lost.
std::uint32_t take_free() {
    shm::Control& control = *globals.control;
    const std::uint32_t chunk = shm::pop_free(
        control, header_of, [](std::uint32_t each) { return place_if_free(each) != kNotThere; });
    if (chunk == shm::kNone) return chunk;
    if (chunk != shm::kDamagedList) {
        std::uint8_t place = place_if_free(chunk);
        if (place != kNotThere && own_copies.places[chunk].compare_exchange_strong(place, kTaken))
            return chunk;
    }
    control.damaged.count_up();
    return shm::kNone;
}

/// Used before, or fresh.
std::uint32_t take_any(shm::ChunkKind kind) {
    if (const std::uint32_t chunk = take_free(); chunk != shm::kNone) {
        if (kind == shm::ChunkKind::records)
            zero_bytes(reinterpret_cast<char*>(&header_of(chunk)) + shm::kChunkHeader,
                       shm::kChunkSize - shm::kChunkHeader);
        return chunk;
    }
    return own_copies.out_of_memory.load() == 0 ? take_fresh() : shm::kNone;
}

void count_waiters(std::uint32_t change) {
    globals.control->waiters.store(own_copies.waiters.fetch_add(change) + change);
}

/// A child that a handler has forked goes on with what the handler interrupted, on memory that no agent serves. The
/// guard is wiped there.
bool is_orphaned() {
    return !rdam_guard.active();
}

/// With nothing on its way to the agent no chunk will come back: each belongs to a thread that may never fill
/// it.
bool may_come_back(const shm::Control& control, bool held) {
    return control.ring_head.load() != own_copies.ring_tail.load() || held ||
           static_cast<std::uint32_t>(control.free_chunks.load()) != 0;
}

/// A thread under a filter cannot sleep. The agent looks a hundred times a second whether anybody waits, and
/// makes room then; a thread that it leaves waiting does not do so again.
std::uint32_t take_or_spin(shm::ChunkKind kind, std::uint64_t& waited) {
    constexpr std::uint64_t kPatience = std::uint64_t{1} << 31;  // ticks: a second, or less
    constexpr int kPauses = 64;
    static constinit std::atomic<std::uint32_t> in_vain;
    shm::Control& control = *globals.control;
    const auto take = [&] {
        const std::uint32_t chunk = take_any(kind);
        if (chunk != shm::kNone) in_vain.store(0, std::memory_order_relaxed);
        return chunk;
    };
    std::uint32_t chunk = take();
    if (chunk != shm::kNone || globals.settings.values[settings::Id::when_full] != 0 || in_vain.load() != 0 ||
        is_orphaned())
        return chunk;
    const bool more = own_copies.opened.load() != 0 && own_copies.fresh_chunks.load() < own_copies.chunks;
    if (!more && !may_come_back(control, control.held.load() != 0)) return chunk;
    count_waiters(1);
    tell_tail();
    waited = 1;
    const std::uint64_t begin = __builtin_ia32_rdtsc();
    while (chunk == shm::kNone && !is_orphaned() && __builtin_ia32_rdtsc() - begin < kPatience) {
        for (int i = 0; i < kPauses; ++i)
            __builtin_ia32_pause();
        chunk = take();
    }
    count_waiters(~0u);
    if (chunk == shm::kNone) in_vain.store(1);
    return chunk;
}

std::uint32_t take_or_wait(shm::ChunkKind kind, std::uint64_t& waited) {
    if (is_filtered()) return take_or_spin(kind, waited);
    shm::Control& control = *globals.control;
    for (;;) {
        const std::uint32_t ticket = control.free_futex.load();
        if (const std::uint32_t chunk = take_any(kind); chunk != shm::kNone) return chunk;
        if (globals.settings.values[settings::Id::when_full] != 0 || is_orphaned()) return shm::kNone;
        const bool held = control.held.load() != 0;
        if (!may_come_back(control, held) || is_about_to_be_filtered()) return shm::kNone;
        count_waiters(1);
        tell_tail();
        if (waited == 0) call_agent();
        waited = 1;
        if (held) wake_agent();
        const long result = sys::futex_wait(&control.free_futex, ticket, kWaitMilliseconds);
        count_waiters(~0u);
        if (result < 0 && !agent_alive()) {
            rdam_guard.deactivate();
            return shm::kNone;
        }
    }
}

/// Nothing shows whether the agent runs: that is believed for a while.
bool may_be_alive() {
    if (globals.unsure.fetch_add(1) < kMaxUnsure) return true;
    globals.control->gave_up.store(shm::kGaveUp);
    return false;
}

}  // namespace

shm::ChunkHeader& header_of(std::uint32_t chunk) {
    return *reinterpret_cast<shm::ChunkHeader*>(reinterpret_cast<char*>(globals.control) +
                                                shm::kChunksOffset + std::uint64_t{chunk} * shm::kChunkSize);
}

std::uint32_t acquire(const ThreadState& thread, shm::ChunkKind kind, std::uint64_t& waited) {
    const std::uint32_t chunk = take_or_wait(kind, waited);
    if (chunk == shm::kNone) return chunk;
    shm::ChunkHeader& head = header_of(chunk);
    const shm::ChunkHeader::Owner owner = {
        .kind = kind,
        .thread = thread.own.index,
        .slot = static_cast<std::uint32_t>(thread.slot - globals.control->threads),
        .chunk = chunk};
    head.owner = owner;
    head.owner_check = shm::check_of(&owner, sizeof owner, 0);
    head.used.store(shm::kChunkHeader, std::memory_order_relaxed);
    head.sequence.store(thread.own.sequence, std::memory_order_relaxed);
    head.number.store(0, std::memory_order_relaxed);
    head.state.store(shm::ChunkState::owned, std::memory_order_release);
    return chunk;
}

void populate_chunks() {
    constexpr std::uint32_t kAhead = 64;
    const std::uint32_t fresh = own_copies.fresh_chunks.load();
    const std::uint32_t left = own_copies.chunks - fresh;
    const std::uint32_t count = left < kAhead ? left : kAhead;
    if (count == 0 ||
        sys::call(SYS_madvise, sys::word(&header_of(fresh)),
                  static_cast<long>(std::uint64_t{count} * shm::kChunkSize), MADV_POPULATE_WRITE) == 0)
        globals.control->ready_chunks.store(fresh + count);
}

void release(std::uint32_t chunk) {
    shm::Control& control = *globals.control;
    own_copies.places[chunk].store(kAway);
    shm::push_free(control, chunk, header_of);
    control.free_futex.fetch_add(1);
    if (own_copies.waiters.load() > 0) sys::futex_wake(&control.free_futex, 1);
}

void hand_over_chunk(std::uint32_t chunk) {
    own_copies.places[chunk].store(kAway);
    header_of(chunk).state.store(shm::ChunkState::full, std::memory_order_release);
    push(1 + chunk, header_of(chunk).used.load().value > shm::kChunkSize / 2);
}

void hand_over_thread(const shm::ThreadSlot& slot) {
    push(shm::kEndedThread | static_cast<std::uint32_t>(&slot - globals.control->threads), false);
}

void wake_agent() {
    shm::Control& control = *globals.control;
    control.work_futex.fetch_add(1);
    if (control.agent_sleeps.load() != 0 && !is_filtered()) sys::futex_wake(&control.work_futex, 1);
}

void call_agent() {
    shm::Control& control = *globals.control;
    shm::Births& births = shm::births_of(control);
    births.called_futex.fetch_add(1);
    sys::futex_wake(&births.called_futex, 1);
    control.work_futex.fetch_add(1);
    sys::futex_wake(&control.work_futex, 1);
}

bool is_held(const shm::Births& births) {
    const std::uint32_t holder = births.holder.load();
    return holder != 0 && (holder & shm::kHolderDied) == 0;
}

bool agent_alive() {
    const std::uint32_t agent = own_copies.agent_pid.load();
    if (agent == 0) {
        const shm::Births& births = shm::births_of(*globals.control);
        if (births.holder.load() != 0) return is_held(births);
        return may_be_alive();
    }
    const long fd = sys::call(SYS_pidfd_open, agent);
    if (fd == -ESRCH) return false;
    if (!sys::failed(fd)) {
        pollfd wait{static_cast<int>(fd), POLLIN, 0};
        long ready = 0;
        // A signal of the program's that is pending interrupts even a call that does not wait.
        do
            ready = sys::call(SYS_poll, sys::word(&wait), 1, 0);
        while (ready == -EINTR);
        sys::call(SYS_close, fd);
        if (ready >= 0) {
            globals.unsure.store(0);
            return ready == 0;
        }
    }
    // No descriptor is left, or a system call is forbidden: signal 0 may show whether the agent runs, but
    // does not detect a zombie.
    if (sys::call(SYS_kill, agent, 0) == -ESRCH) return false;
    return may_be_alive();
}

}  // namespace rdam::probe
