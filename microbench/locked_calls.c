// Two threads that take and give back one of 100,000 locks, argv[1] times in all: calls whose groups fit into
// no cache. They nest four deep (sweep, visit, take, look), come from 30 places, and differ in what they
// contain.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { kLocks = 100000, kThreads = 2 };

struct lock {
    _Alignas(64) atomic_int held;
};
static struct lock locks[kLocks];
static long turns;

__attribute__((noinline)) void look(struct lock* lock) {
    while (atomic_load_explicit(&lock->held, memory_order_relaxed))
        __builtin_ia32_pause();
}

__attribute__((noinline)) void take(struct lock* lock, int looks) {
    do {
        if (looks) look(lock);
    } while (atomic_exchange_explicit(&lock->held, 1, memory_order_acquire));
}

__attribute__((noinline)) void give(struct lock* lock) {
    atomic_store_explicit(&lock->held, 0, memory_order_release);
}

// The number keeps the compiler from making one place of several.
#define PLACE(number)                                  \
    case number:                                       \
        take(lock, looks);                             \
        __asm__ volatile("" ::"i"(number), "r"(lock)); \
        give(lock);                                    \
        __asm__ volatile("" ::"i"(number));            \
        break;
#define SIX_PLACES(first) \
    PLACE(first) PLACE(first + 1) PLACE(first + 2) PLACE(first + 3) PLACE(first + 4) PLACE(first + 5)

static uint32_t below(uint64_t* state, uint32_t limit) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)((*state >> 32) * limit >> 32);
}

__attribute__((noinline)) void visit(uint64_t* state, long item, int times) {
    __asm__ volatile("" ::"r"(item));  // a parameter that varies, and is no key
    for (; times > 0; --times) {
        struct lock* lock = &locks[below(state, kLocks)];
        const int looks = below(state, 8) == 0;
        switch (below(state, 30)) {
            SIX_PLACES(0)
            SIX_PLACES(6)
            SIX_PLACES(12)
            SIX_PLACES(18)
            SIX_PLACES(24)
        }
    }
}

__attribute__((noinline)) long sweep(uint64_t* state, long left) {
    for (int visits = 0; visits < 16 && left > 0; ++visits) {
        int times = 1 + (int)below(state, 4);
        if (times > left) times = (int)left;
        visit(state, left, times);
        left -= times;
    }
    return left;
}

static void* run(void* number) {
    uint64_t state = 0x9e3779b97f4a7c15 + (uintptr_t)number;
    for (long left = turns / kThreads; left > 0;)
        left = sweep(&state, left);
    return 0;
}

int main(int count, char** arguments) {
    turns = count > 1 ? atol(arguments[1]) : kThreads;
    pthread_t threads[kThreads];
    for (uintptr_t i = 0; i < kThreads; ++i)
        if (pthread_create(&threads[i], 0, run, (void*)i) != 0) return 1;
    for (int i = 0; i < kThreads; ++i)
        pthread_join(threads[i], 0);
    return 0;
}
