// A hardware counter for each thread: the instructions that it executes outside the kernel. Read with the
// processor's rdpmc, without entering the kernel.
//
// The counter is *pinned*: it is on the processor whenever its thread is, or not at all. A count that was
// taken with the counter away for some time would be too low by an unknown amount.
#pragma once

#include <cstdint>

#include "libprobe/base/state.h"
#include "libprobe/format/shared.h"

extern "C" {
/// The count of the calling thread so far; 0: not known. In counter.S.
std::uint64_t rdam_read_counter();
}

namespace rdam::probe {

/// Where a counter is read, or why there is none.
struct CounterPage {
    void* memory = nullptr;  ///< a perf_event_mmap_page; not inherited by fork
    shm::Counters why = shm::Counters::counting;
    std::uint32_t error = 0;  ///< errno of `refused` and `unmappable`
};

/// Starts a counter of the calling thread. No descriptor stays open. counter_page.cpp.
CounterPage map_counter();

/// For the first thread, before the trampolines are chosen: whether instructions are counted from here on
/// (Globals::counting).
void choose_counting(ThreadState& thread);

/// Tells the agent, in the control page of this process, what choose_counting() has found.
void tell_counting();

/// Gives the calling thread a counter if there are counters. Signals are blocked.
void begin_counter(ThreadState& thread);
void end_counter(ThreadState& thread);

/// The page was the parent's: fork has not handed it on.
void forget_counter(ThreadState& thread);

}  // namespace rdam::probe
