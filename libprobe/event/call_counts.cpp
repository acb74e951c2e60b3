#include "libprobe/event/call_counts.h"

#include <stddef.h>
#include <sys/mman.h>

#include "libprobe/base/filter.h"
#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/event/clock.h"

namespace rdam::probe {
namespace {

shm::PublishedCalls* block(std::uint32_t index) {
    return reinterpret_cast<shm::PublishedCalls*>(reinterpret_cast<char*>(globals.control) +
                                                  shm::kCallsOffset) +
           index;
}

std::uint32_t index_of(const shm::ThreadSlot& slot) {
    return static_cast<std::uint32_t>(&slot - globals.control->threads);
}

std::uint32_t far_blocks(std::uint32_t counters) {
    return counters <= shm::kNearCounters ? 0 : (counters - 1) / shm::kNearCounters;
}

/// False: the machine has no memory for them, which would be a SIGBUS at the first number.
bool populate(const shm::PublishedCalls* first, std::uint32_t blocks) {
    const std::uint64_t page = reinterpret_cast<std::uint64_t>(first) & ~(sys::kPage - 1);
    const auto size = static_cast<long>(blocks * sizeof *first);
    return sys::call(SYS_madvise, static_cast<long>(page), size, MADV_POPULATE_WRITE) == 0;
}

/// The slot's part of the shared memory; nullptr: there is none.
shm::PublishedCalls* place_of(const shm::ThreadSlot& slot) {
    shm::PublishedCalls* const own = block(index_of(slot));
    return globals.calls_opened.load() != 0 || populate(own, 1) ? own : nullptr;
}

/// The run of the slot, a new one where the one that it has is too short: a slot keeps it for the threads that
/// have it later. {}: all blocks are taken.
shm::CallRun run_of(const shm::ThreadSlot& slot, std::uint32_t blocks) {
    const std::uint32_t index = index_of(slot);
    const shm::CallRun known = shm::CallRun::of(own_copies.far_runs[index].load());
    if (known.blocks >= blocks) return known;
    constexpr std::uint32_t kAll = shm::kCallBlocks - shm::kMaxThreads;
    if (own_copies.far_taken.load() > kAll - blocks) return {};
    const std::uint32_t before = own_copies.far_taken.fetch_add(blocks);
    if (before > kAll - blocks) return {};
    const shm::CallRun run{.first = shm::kMaxThreads + before, .blocks = blocks};
    own_copies.far_runs[index].store(run.number());
    globals.control->far_calls[index].store(run.number());
    return run;
}

/// Memory for so many counters, and a place to publish them. A handler may be here that has interrupted a gate
/// between its reading the pointer and its counting, so there is room for all counters at once, and what a
/// thread has once it keeps while it lives. Only the pages of those in use cost anything.
void open_far(ThreadState& thread, const shm::ThreadSlot& slot, std::uint32_t counters) {
    // Behind its last destructor nobody would give the memory back.
    if (thread.ended || is_filtered()) return;
    if (thread.far_calls == nobodys_calls) {
        const long memory = sys::mmap(0, sizeof nobodys_calls, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (sys::failed(memory)) return;
        sys::call(SYS_madvise, memory, static_cast<long>(far_blocks(counters) * sizeof(shm::PublishedCalls)),
                  MADV_POPULATE_WRITE);
        thread.far_calls = reinterpret_cast<std::uint64_t*>(memory);
    }
    const shm::CallRun run = run_of(slot, far_blocks(counters));
    if (run.blocks == 0 || !populate(block(run.first), run.blocks)) return;
    thread.published_far = block(run.first);
    thread.far_blocks = run.blocks;
}

/// Where the numbers of one thread are shown.
struct Places {
    shm::PublishedCalls* near = nullptr;
    shm::PublishedCalls* far = nullptr;
    std::uint32_t far_blocks = 0;

    std::uint32_t room() const { return (1 + far_blocks) * shm::kNearCounters; }
    shm::PublishedCalls& of(std::uint32_t counter) const {
        return is_far(counter) ? far[counter / shm::kNearCounters - 1] : *near;
    }
};

/// Killed in between, the thread leaves no numbers rather than some old and some new ones. `read` copies
/// numbers, from some counter on so many; false: it cannot.
template <class Read>
void publish(shm::ThreadSlot& slot, const Places& places, std::uint32_t given, Read read) {
    std::uint64_t numbers[shm::kNearCounters];
    const std::uint32_t count = given < places.room() ? given : places.room();
    std::uint32_t done = 0, size = 0;
    const auto read_next = [&] {
        size = count - done < shm::kNearCounters ? count - done : shm::kNearCounters;
        return size != 0 && read(numbers, done, size);
    };
    if (!read_next()) return;
    slot.counted_until.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    std::uint64_t check = 0;
    do {
        shm::PublishedCalls& place = places.of(done);
        for (std::uint32_t i = 0; i < size; ++i)
            place.calls[i].store(numbers[i], std::memory_order_relaxed);
        check = shm::check_of(numbers, size * sizeof numbers[0], check);
        done += size;
    } while (read_next());
    slot.call_counters.store(done, std::memory_order_relaxed);
    const std::uint64_t now = read_clock();
    slot.counted_check.store(shm::check_of(&now, sizeof now, check), std::memory_order_relaxed);
    slot.counted_until.store(now, std::memory_order_release);
}

/// If nobody has seen the thread end, its storage may belong to another thread by now.
bool lives(const shm::ThreadSlot& slot, const shm::ThreadSlot::Begin& begin) {
    return slot.state.load() == shm::ThreadSlotState::live &&
           shm::check_of(&begin, sizeof begin, 0) == slot.begin_check && !begin.reopened() &&
           sys::call(SYS_tgkill, sys::getpid(), begin.tid, 0) == 0;
}

}  // namespace

std::uint32_t call_counter_of(std::uint32_t function) {
    const std::uint32_t counter = std::uint32_t{globals.counter_of[function]} - 1;
    const bool known = counter < globals.call_counters.load(std::memory_order_relaxed) &&
                       globals.counted[counter] == function;
    return known ? counter : kNoCallCounter;
}

std::uint32_t give_call_counter(std::uint32_t function) {
    if (const std::uint32_t known = call_counter_of(function); known != kNoCallCounter) return known;
    const std::uint32_t counter = globals.call_counters.load(std::memory_order_relaxed);
    globals.counted[counter] = function;
    globals.counter_of[function] = static_cast<std::uint16_t>(counter + 1);
    globals.call_counters.store(counter + 1, std::memory_order_release);
    return counter;
}

namespace {
std::uint32_t from_thread_pointer(const void* place) {
    std::uint64_t thread_pointer = 0;
    asm("mov %%fs:0, %0" : "=r"(thread_pointer));
    return static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(place) - thread_pointer);
}
}  // namespace

std::uint32_t displacement_of(std::uint32_t counter) {
    return from_thread_pointer(&rdam_thread.gate_calls[counter]);
}

std::uint32_t displacement_of_far() {
    return from_thread_pointer(&rdam_thread.far_calls);
}

void tell_call_counters() {
    shm::Control& control = *globals.control;
    const std::uint32_t given = globals.call_counters.load(std::memory_order_relaxed);
    // Counters that are not assigned mean nothing.
    for (std::uint32_t i = 0; i < shm::kCallCounters; ++i)
        control.counted[i] = globals.counted[i];
    control.counted_check.store(shm::check_of(globals.counted, sizeof globals.counted, 0));
    control.call_counters.store(given);
}

void begin_publishing(ThreadState& thread, shm::ThreadSlot& slot) {
    thread.published = nullptr;
    thread.published_far = nullptr;
    thread.far_blocks = 0;
    slot.call_counters.store(0, std::memory_order_relaxed);
    slot.counted_until.store(0, std::memory_order_relaxed);
    publish_calls(thread, slot);
}

void publish_calls(ThreadState& thread, shm::ThreadSlot& slot) {
    const std::uint32_t given = globals.call_counters.load(std::memory_order_acquire);
    if (given == 0) return;
    if (thread.published == nullptr) thread.published = place_of(slot);
    if (thread.published == nullptr) return;
    if (thread.far_blocks < far_blocks(given)) open_far(thread, slot, given);
    const volatile std::uint64_t* const near = thread.gate_calls;
    const volatile std::uint64_t* const far = thread.far_calls;
    publish(slot, {thread.published, thread.published_far, thread.far_blocks}, given,
            [&](std::uint64_t* to, std::uint32_t from, std::uint32_t count) {
                const volatile std::uint64_t* const calls =
                    is_far(from) ? far + (from - shm::kNearCounters) : near;
                for (std::uint32_t i = 0; i < count; ++i)
                    to[i] = calls[i];
                return true;
            });
}

void open_call_counts() {
    if (globals.call_counters.load() == 0) return;
    if (populate(block(0), shm::kMaxThreads)) globals.calls_opened.store(1);
}

void publish_others() {
    // Nobody could say whether the storage of another thread is still there.
    if (is_filtered()) return;
    shm::Control& control = *globals.control;
    const std::uint32_t given = globals.call_counters.load(std::memory_order_acquire);
    if (given == 0) return;
    // No slot behind these has been used, unless threads were reopened all the time.
    const std::uint32_t started = own_copies.threads_started.load();
    const std::uint32_t slots = started < shm::kMaxThreads / 2 ? 2 * started : shm::kMaxThreads;
    for (std::uint32_t i = 0; i < slots; ++i) {
        shm::ThreadSlot& slot = control.threads[i];
        const shm::ThreadSlot::Begin begin = slot.begin;
        if (!lives(slot, begin)) continue;
        const std::uint64_t to_far =
            begin.counting - offsetof(ThreadState, gate_calls) + offsetof(ThreadState, far_calls);
        std::uint64_t far = 0;
        const bool has_far = read_memory(&far, to_far, sizeof far) == sizeof far &&
                             far != reinterpret_cast<std::uint64_t>(nobodys_calls);
        const shm::CallRun run = has_far ? shm::CallRun::of(own_copies.far_runs[i].load()) : shm::CallRun{};
        shm::PublishedCalls* const near = place_of(slot);
        if (near == nullptr) continue;
        publish(slot, {near, block(run.first), run.blocks}, given,
                [&](std::uint64_t* to, std::uint32_t from, std::uint32_t count) {
                    const std::uint64_t calls = is_far(from) ? far + offset_of_far(from) : begin.counting;
                    const std::uint32_t size = count * sizeof *to;
                    return read_memory(to, calls, size) == size;
                });
    }
}

void take_back_calls(ThreadState& thread) {
    if (thread.slot == nullptr || thread.published == nullptr) return;
    const Places places{thread.published, thread.published_far, thread.far_blocks};
    const std::uint32_t told = thread.slot->call_counters.load().value;
    const std::uint32_t known = told < places.room() ? told : places.room();
    for (std::uint32_t i = 0; i < known; ++i) {
        std::uint64_t& calls = is_far(i) ? thread.far_calls[i - shm::kNearCounters] : thread.gate_calls[i];
        calls = places.of(i).calls[i % shm::kNearCounters].load(std::memory_order_relaxed);
    }
}

void forget_calls(ThreadState& thread) {
    for (volatile std::uint64_t& calls : thread.gate_calls)
        calls = 0;
    if (thread.far_calls == nobodys_calls) return;
    const std::uint32_t given = globals.call_counters.load();
    for (std::uint32_t i = shm::kNearCounters; i < given; ++i)
        thread.far_calls[i - shm::kNearCounters] = 0;
}

void release_calls(ThreadState& thread) {
    std::uint64_t* const far = thread.far_calls;
    thread.far_calls = nobodys_calls;
    thread.far_blocks = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (far != nobodys_calls) sys::call(SYS_munmap, sys::word(far), sizeof nobodys_calls);
}

}  // namespace rdam::probe
