#include "libprobe/event/call_counts.h"

#include "libprobe/base/filter.h"
#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/event/clock.h"

namespace rdam::probe {
namespace {

/// The slot's part of the shared memory; nullptr: the machine has no memory for it, which would be a SIGBUS
/// at the first number.
shm::PublishedCalls* place_of(const shm::ThreadSlot& slot) {
    auto* all =
        reinterpret_cast<shm::PublishedCalls*>(reinterpret_cast<char*>(globals.control) + shm::kCallsOffset);
    shm::PublishedCalls* own = all + (&slot - globals.control->threads);
    if (globals.calls_opened.load() != 0) return own;
    const std::uint64_t page = reinterpret_cast<std::uint64_t>(own) & ~(sys::kPage - 1);
    const bool is_there =
        sys::call(SYS_madvise, static_cast<long>(page), sys::kPage, MADV_POPULATE_WRITE) == 0;
    return is_there ? own : nullptr;
}

/// Killed in between, the thread leaves no numbers rather than some old and some new ones.
void publish(shm::ThreadSlot& slot, shm::PublishedCalls& place, const volatile std::uint64_t* calls,
             std::uint32_t count) {
    slot.counted_until.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    std::uint64_t numbers[shm::kCallCounters];
    for (std::uint32_t i = 0; i < count; ++i) {
        numbers[i] = calls[i];
        place.calls[i].store(numbers[i], std::memory_order_relaxed);
    }
    slot.call_counters.store(count, std::memory_order_relaxed);
    const std::uint64_t now = read_clock();
    slot.counted_check.store(shm::check_of(numbers, count * sizeof numbers[0], now),
                             std::memory_order_relaxed);
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
    const std::uint32_t given = globals.call_counters.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < given; ++i)
        if (globals.counted[i] == function) return i;
    return kNoCallCounter;
}

std::uint32_t give_call_counter(std::uint32_t function) {
    if (const std::uint32_t known = call_counter_of(function); known != kNoCallCounter) return known;
    const std::uint32_t counter = globals.call_counters.load(std::memory_order_relaxed);
    if (counter == shm::kCallCounters) return kNoCallCounter;
    globals.counted[counter] = function;
    globals.call_counters.store(counter + 1, std::memory_order_release);
    return counter;
}

std::uint32_t displacement_of(std::uint32_t counter) {
    std::uint64_t thread_pointer = 0;
    asm("mov %%fs:0, %0" : "=r"(thread_pointer));
    const auto address = reinterpret_cast<std::uint64_t>(&rdam_thread.gate_calls[counter]);
    return static_cast<std::uint32_t>(address - thread_pointer);
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
    slot.call_counters.store(0, std::memory_order_relaxed);
    slot.counted_until.store(0, std::memory_order_relaxed);
    publish_calls(thread, slot);
}

void publish_calls(ThreadState& thread, shm::ThreadSlot& slot) {
    const std::uint32_t given = globals.call_counters.load(std::memory_order_acquire);
    if (given == 0) return;
    if (thread.published == nullptr) thread.published = place_of(slot);
    if (thread.published != nullptr) publish(slot, *thread.published, thread.gate_calls, given);
}

void open_call_counts() {
    if (globals.call_counters.load() == 0) return;
    const long area = sys::word(globals.control) + static_cast<long>(shm::kCallsOffset);
    if (sys::call(SYS_madvise, area, shm::kCallsSize, MADV_POPULATE_WRITE) == 0)
        globals.calls_opened.store(1);
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
        std::uint64_t calls[shm::kCallCounters];
        const std::uint32_t size = given * sizeof calls[0];
        if (read_memory(calls, begin.counting, size) != size) continue;
        if (shm::PublishedCalls* place = place_of(slot); place != nullptr)
            publish(slot, *place, calls, given);
    }
}

void take_back_calls(ThreadState& thread) {
    if (thread.slot == nullptr || thread.published == nullptr) return;
    const std::uint32_t known = thread.slot->call_counters.load().value;
    for (std::uint32_t i = 0; i < known && i < shm::kCallCounters; ++i)
        thread.gate_calls[i] = thread.published->calls[i].load(std::memory_order_relaxed);
}

void forget_calls(ThreadState& thread) {
    for (volatile std::uint64_t& calls : thread.gate_calls)
        calls = 0;
}

}  // namespace rdam::probe
