// When threads begin and end. pthread_create is interposed by plain preloading: a thread that is created
// through it is known from its first moment on; any other from its first event on.
#include "libprobe/start/threads.h"

#include <limits.h>
#include <pthread.h>

#include <atomic>

#include "libprobe/base/filter.h"
#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/event/call_counts.h"
#include "libprobe/event/chunks.h"
#include "libprobe/event/clock.h"
#include "libprobe/event/slow.h"
#include "libprobe/event/stacks.h"

namespace rdam::probe {
namespace {

using Routine = void* (*)(void*);
using Create = int(pthread_t*, const pthread_attr_t*, Routine, void*);

/// What a new thread has to run. A creator fills it, the new thread empties it; when all are on their way at
/// once the thread is started without us.
struct Start {
    std::atomic<std::uint32_t> taken{0};
    Routine routine = nullptr;
    void* argument = nullptr;
    std::uint64_t stack_size = 0;  ///< 0: it is not known
    std::uint32_t filtered = 0;    ///< the creator is under a filter, and so is what it creates
    char name[16] = {};            ///< the creator's, which the new thread begins with
};
constexpr std::uint32_t kStarts = 512;
constexpr std::size_t kStackOfProbes = 16384;  ///< for frames between the program's own
constinit Start starts[kStarts] = {};
constinit std::atomic<std::uint32_t> start_hint;
Create* real_create = nullptr;

Start* take_start() {
    const std::uint32_t hint = start_hint.fetch_add(1);
    for (std::uint32_t i = 0; i < kStarts; ++i) {
        Start& start = starts[(hint + i) % kStarts];
        if (start.taken.load(std::memory_order_relaxed) == 0 && start.taken.exchange(1) == 0) return &start;
    }
    return nullptr;
}

/// The one that `frame`, the thread's first, is on. libc puts what it knows of a thread at the end of the
/// thread's memory, and the thread-local storage before it: the stack begins so far below that end, not below
/// the first frame. What is below the stack may be another one, of a fiber.
Stack stack_around(std::uint64_t frame, std::uint64_t size) {
    Stack stack = stack_of(frame, size);
    const auto end = reinterpret_cast<std::uint64_t>(__builtin_thread_pointer());
    if (stack.high != 0 && end > frame && end - frame < size) stack.low = stack_of(end, size).low;
    return stack;
}

void* run_thread(void* data) {
    auto& start = *static_cast<Start*>(data);
    const Routine routine = start.routine;
    void* const argument = start.argument;
    rdam_filtering.filtered = start.filtered;
    rdam_filtering.known = 1;
    copy_bytes(rdam_thread.name, start.name, sizeof start.name);
    const Stack stack = stack_around(reinterpret_cast<std::uint64_t>(&data), start.stack_size);
    start.taken.store(0);
    watch_stack(rdam_thread, stack);
    if (rdam_guard.active()) {
        const sys::BlockSignals blocked;
        if (rdam_thread.slot == nullptr && begin_thread(rdam_thread, read_clock())) lend_stack(rdam_thread);
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
    if (rdam_guard.active()) {
        take_stack_back(thread);
        end_thread(thread);
    }
    release_pairs(thread);
    release_calls(thread);
}

template <typename Function>
void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(find_next(name));
}

void find_libc() {
    find(globals.get_stack, "pthread_attr_getstack");
    find(globals.set_stack_size, "pthread_attr_setstacksize");
    find(globals.get_stack_size, "pthread_attr_getstacksize");
    find(globals.init_attributes, "pthread_attr_init");
    find(real_create, "pthread_create");
}

/// libc puts the thread-local storage into the thread's stack, and a program may have requested only as much
/// stack as it needs itself. A program that provides the memory must include the room.
const pthread_attr_t* with_room(const pthread_attr_t* given, pthread_attr_t& larger) {
    static constexpr std::size_t kRoom = (sizeof(ThreadState) + kStackOfProbes + 4095) & ~std::size_t{4095};
    void* place = nullptr;
    std::size_t size = 0;
    if (given == nullptr || globals.get_stack(given, &place, &size) != 0) return given;
    // Without memory of the program's own the stack "ends" at address 0.
    const bool is_own = reinterpret_cast<std::uint64_t>(place) + size != 0;
    if (size == 0 || is_own) return given;
    copy_bytes(&larger, given, sizeof larger);
    return globals.set_stack_size(&larger, size + kRoom) == 0 ? &larger : given;
}

/// What the new thread will have; 0: it cannot be known.
std::uint64_t stack_size(const pthread_attr_t* attributes) {
    pthread_attr_t usual;
    if (attributes == nullptr) {
        if (globals.init_attributes(&usual) != 0) return 0;
        attributes = &usual;
    }
    std::size_t size = 0;
    return globals.get_stack_size(attributes, &size) == 0 ? size : 0;
}

}  // namespace

void prepare_threads() {
    find_libc();
    find(globals.set_specific, "pthread_setspecific");
    globals.has_thread_key = pthread_key_create(&globals.thread_key, thread_ends) == 0;
}

}  // namespace rdam::probe

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*routine)(void*),
                                                                     void* argument) {
    using namespace rdam::probe;
    start_before_threads();
    if (real_create == nullptr) find_libc();
    pthread_attr_t larger;
    attributes = with_room(attributes, larger);
    Start* start = rdam_guard.active() || rdam_filtering.filtered != 0 ? take_start() : nullptr;
    if (start == nullptr) return real_create(thread, attributes, routine, argument);
    start->routine = routine;
    start->argument = argument;
    start->stack_size = stack_size(attributes);
    start->filtered = rdam_filtering.filtered;
    copy_bytes(start->name, rdam_thread.name, sizeof start->name);
    const int result = real_create(thread, attributes, run_thread, start);
    if (result != 0) start->taken.store(0);
    return result;
}
