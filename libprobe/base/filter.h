// System call filters (seccomp), and whether this thread may enter the kernel for the recorder.
//
// A filter may end the program, or call a handler of its, for a system call that the program does not make
// itself. So once a thread is under one that the program has set up, the recorder makes no system call in it.
// What would block signals makes the thread *busy* instead: what a handler calls meanwhile is not recorded.
#pragma once

#include <atomic>
#include <cstdint>

namespace rdam::probe {

/// Thread-local.
struct Filtering {
    std::uint32_t filtered;  ///< the thread is under a filter
    std::uint32_t calling;   ///< sections open, one inside another, that may enter the kernel
    std::uint32_t busy;      ///< sections open that may not
    /// The thread knows whether its creator was filtered, or was there before any filter. Other threads may
    /// have begun under one: a handler that interrupts a thread's first instructions is in such a one, and so
    /// is what a program creates past pthread_create.
    std::uint32_t known;
};

/// What a system call does to filters.
struct FilterCall {
    enum class Effect : std::uint8_t { none, one, all, none_again };
    Effect effect = Effect::none;  ///< which threads it puts under a filter; none_again: the thread is free
    bool returns_tid = false;      ///< a positive result is no success
    bool stops_counter = false;    ///< the thread may not read the time-stamp counter any more
};

}  // namespace rdam::probe

extern "C" {
extern __attribute__((visibility("hidden"))) __thread rdam::probe::Filtering rdam_filtering;
/// Threads that have put themselves under a filter.
extern __attribute__((visibility("hidden"))) std::atomic<std::uint32_t> rdam_some_filtered;
/// All threads are under a filter.
extern __attribute__((visibility("hidden"))) std::atomic<std::uint32_t> rdam_all_filtered;
/// Sections open that may enter the kernel, of all threads.
extern __attribute__((visibility("hidden"))) std::atomic<std::uint32_t> rdam_calling;
}

namespace rdam::probe {

/// False: this thread is under a filter, and makes no system call. True: it may make some until end_calls();
/// a filter for all threads waits for that (filter_all()).
bool begin_calls();
void end_calls();

/// Whether the thread is under a filter, as far as that is known of it.
inline bool may_be_under_filter() {
    const Filtering& own = rdam_filtering;
    return own.filtered != 0 || rdam_all_filtered.load() != 0 ||
           (own.known == 0 && rdam_some_filtered.load() != 0);
}

/// Whether system calls are forbidden to what the thread does now.
inline bool is_filtered() {
    return rdam_filtering.calling == 0 && may_be_under_filter();
}

/// Whether they will be soon: what waits should not wait any longer.
inline bool is_about_to_be_filtered() {
    return rdam_all_filtered.load(std::memory_order_relaxed) != 0;
}

/// All threads are about to be under a filter: returns when none of the others is in a section any more.
/// (Not if one of them takes longer than a second.)
void filter_all();

/// In a fork child, which has one thread.
void forget_callers();

}  // namespace rdam::probe
