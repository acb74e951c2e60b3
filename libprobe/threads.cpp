// When threads begin and end. pthread_create is interposed by plain preloading: a thread that is created
// through it is known from its first moment on; any other from its first event on.
#include "libprobe/threads.h"

#include <pthread.h>

#include <atomic>

#include "libprobe/chunks.h"
#include "libprobe/clock.h"
#include "libprobe/init.h"
#include "libprobe/runtime.h"
#include "libprobe/sys.h"

namespace rdam::probe {
namespace {

using Routine = void* (*)(void*);
using Create = int (*)(pthread_t*, const pthread_attr_t*, Routine, void*);

/// What a new thread has to run. A creator fills it, the new thread empties it; when all are on their way at
/// once the thread is started without us.
struct Start {
    std::atomic<std::uint32_t> taken{0};
    Routine routine = nullptr;
    void* argument = nullptr;
};
constexpr std::uint32_t kStarts = 512;
constinit Start starts[kStarts] = {};
constinit std::atomic<std::uint32_t> start_hint;
Create real_create = nullptr;

Start* take_start() {
    const std::uint32_t hint = start_hint.fetch_add(1);
    for (std::uint32_t i = 0; i < kStarts; ++i) {
        Start& start = starts[(hint + i) % kStarts];
        if (start.taken.load(std::memory_order_relaxed) == 0 && start.taken.exchange(1) == 0) return &start;
    }
    return nullptr;
}

void* run_thread(void* data) {
    auto& start = *static_cast<Start*>(data);
    const Routine routine = start.routine;
    void* const argument = start.argument;
    start.taken.store(0);
    if (rdam_guard.active.load() != 0) {
        const sys::BlockSignals blocked;
        if (rdam_thread.slot == nullptr) begin_thread(rdam_thread, read_clock());
    }
    return routine(argument);
}

/// Runs when a thread ends; asks to be run again until the last round, behind the destructors of everybody
/// else.
void thread_ends(void* data) {
    static constexpr std::uintptr_t kRounds = PTHREAD_DESTRUCTOR_ITERATIONS;
    auto& thread = *static_cast<ThreadState*>(data);
    if (++thread.end_rounds < kRounds && globals.set_specific(globals.thread_key, &thread) == 0) return;
    const sys::BlockSignals blocked;
    if (rdam_guard.active.load() != 0) end_thread(thread);
    release_pairs(thread);
}

}  // namespace

void prepare_threads(void* create, void* set_specific) {
    real_create = reinterpret_cast<Create>(create);
    globals.set_specific = reinterpret_cast<int (*)(std::uint32_t, const void*)>(set_specific);
    globals.has_thread_key = pthread_key_create(&globals.thread_key, thread_ends) == 0;
}

}  // namespace rdam::probe

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*routine)(void*),
                                                                     void* argument) {
    using namespace rdam::probe;
    if (real_create == nullptr) real_create = reinterpret_cast<Create>(find_next("pthread_create"));
    Start* start = rdam_guard.active.load() != 0 ? take_start() : nullptr;
    if (start == nullptr) return real_create(thread, attributes, routine, argument);
    start->routine = routine;
    start->argument = argument;
    const int result = real_create(thread, attributes, run_thread, start);
    if (result != 0) start->taken.store(0);
    return result;
}
