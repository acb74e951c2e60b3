#include "libprobe/event/sandbox.h"

#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sys/mman.h>

#include "libprobe/base/filter.h"
#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/event/call_counts.h"
#include "libprobe/event/chunk_pool.h"
#include "libprobe/event/chunks.h"
#include "libprobe/event/clock.h"
#include "libprobe/event/packing.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

namespace rdam::probe {
namespace {

using Effect = FilterCall::Effect;

constinit std::atomic<std::uint32_t> preparing;
constinit std::atomic<std::uint32_t> prepared;

FilterCall filter_of_seccomp(std::uint64_t operation, std::uint64_t flags, std::uint64_t program) {
    if (operation == SECCOMP_SET_MODE_STRICT) return {.effect = Effect::one, .stops_counter = true};
    // Without a program it is the question whether there is such a call.
    if (operation != SECCOMP_SET_MODE_FILTER || program == 0) return {};
    if ((flags & SECCOMP_FILTER_FLAG_TSYNC) == 0) return {.effect = Effect::one};
    return {.effect = Effect::all, .returns_tid = (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) == 0};
}

FilterCall filter_of_prctl(std::uint64_t option, std::uint64_t mode, std::uint64_t program) {
    constexpr std::uint64_t kOn = 1;
    switch (static_cast<int>(option)) {
        case PR_SET_SECCOMP:
            if (mode == SECCOMP_MODE_STRICT) return {.effect = Effect::one, .stops_counter = true};
            return {.effect = mode == SECCOMP_MODE_FILTER && program != 0 ? Effect::one : Effect::none};
        case PR_SET_TSC:
            return {.stops_counter = mode == PR_TSC_SIGSEGV};
        case PR_SET_SYSCALL_USER_DISPATCH:
            return {.effect = mode == kOn ? Effect::one : Effect::none_again};
        default:
            return {};
    }
}

/// All chunks, and the memory of the counts of calls, from now on without a system call. Locked memory would
/// be populated at once, gigabytes.
void open_memory() {
    const long begin = sys::word(&header_of(0));
    const long size = static_cast<long>(std::uint64_t{own_copies.chunks} * shm::kChunkSize);
    sys::call(SYS_munlock, begin, size);
    if (sys::call(SYS_mprotect, begin, size, PROT_READ | PROT_WRITE) != 0) return;
    own_copies.opened.store(1);
    // A child that a handler forks may have to go on with what the handler has interrupted.
    sys::call(SYS_madvise, sys::word(globals.control), static_cast<long>(shm::kChunksOffset) + size,
              MADV_DOFORK);
    populate_chunks();
    open_call_counts();
}

void prepare(ThreadState& thread) {
    const sys::BlockSignals blocked;
    if (rdam_guard.active() && thread.slot == nullptr && !thread.lent) begin_thread(thread, read_clock());
    if (preparing.exchange(1) != 0) {
        while (prepared.load() == 0)
            sys::call(SYS_sched_yield);
        return;
    }
    reserve_memory();
    open_memory();
    make_packers();
    // A timestamp would be a system call.
    if (globals.settings.clock == shm::Clock::monotonic) {
        rdam_guard.deactivate();
        globals.control->clockless.store(shm::kFilterSeen);
    }
    globals.control->filtered.store(shm::kFilterSeen);
    call_agent();
    prepared.store(1);
}

/// The thread will not be able to read its clock.
void stop(ThreadState& thread) {
    if (!rdam_guard.active() || thread.lent || in_shared_child(thread) ||
        globals.settings.clock == shm::Clock::monotonic)
        return;
    const sys::BlockSignals blocked;
    if (blocked.nested()) return;
    end_thread(thread);
    thread.lent = true;
    thread.clockless = true;
}

/// One that others may be created under.
bool is_first_of_thread(const ThreadState& thread, const FilterCall& call) {
    return call.effect == Effect::one && thread.filtered_before == 0 && !in_shared_child(thread);
}

}  // namespace

FilterCall filter_call(std::uint64_t number, std::uint64_t first, std::uint64_t second, std::uint64_t third) {
    if (number == SYS_seccomp) return filter_of_seccomp(first, second, third);
    if (number == SYS_prctl) return filter_of_prctl(first, second, third);
    return {};
}

void before_filter(ThreadState& thread, const FilterCall& call) {
    if (call.stops_counter) stop(thread);
    if (call.effect != Effect::one && call.effect != Effect::all) return;
    thread.filtered_before = rdam_filtering.filtered;
    thread.all_filtered_before = rdam_all_filtered.load();
    // A child on its maker's memory has a filter of its own, and makes no system call anyway.
    const bool child = in_shared_child(thread);
    if (!child && globals.control != nullptr && rdam_guard.active()) prepare(thread);
    if (!child && call.effect == Effect::all)
        filter_all();
    else
        rdam_filtering.filtered = 1;
    if (is_first_of_thread(thread, call)) rdam_some_filtered.fetch_add(1);
}

void after_filter(ThreadState& thread, const FilterCall& call, long result) {
    if (call.effect == Effect::none) return;
    const bool done = call.returns_tid ? result == 0 : result >= 0;
    if (call.effect == Effect::none_again) {
        if (done) rdam_filtering.filtered = thread.filtered_before;
    } else if (!done) {
        if (is_first_of_thread(thread, call)) rdam_some_filtered.fetch_sub(1);
        rdam_filtering.filtered = thread.filtered_before;
        rdam_all_filtered.store(thread.all_filtered_before);
    }
}

void forget_sandbox() {
    preparing.store(0);
    prepared.store(0);
}

}  // namespace rdam::probe
