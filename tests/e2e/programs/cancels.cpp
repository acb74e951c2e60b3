// Threads that are cancelled asynchronously, wherever they are in calls of `leaf`: prints how many cleanups,
// handlers and destructors have run.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

namespace {

std::atomic<bool> ready;
std::atomic<int> cleaned, handled, destroyed;

struct Guard {
    Guard() = default;
    Guard(const Guard&) = delete;
    Guard(Guard&&) = delete;
    Guard& operator=(const Guard&) = delete;
    Guard& operator=(Guard&&) = delete;
    ~Guard() { ++destroyed; }
};

}  // namespace

extern "C" __attribute__((noinline, noclone)) long leaf(long x) {
    __asm__ volatile("" ::: "memory");
    return x * 3;
}

/// Has no landing pads: it may end anywhere.
extern "C" __attribute__((noinline, noclone)) void spin() {
    for (volatile long sum = 0;; sum = leaf(sum))
        ready.store(true, std::memory_order_relaxed);
}

/// A call that may throw, for all that the compiler knows.
static void (*volatile spin_on)() = spin;

static void clean(void* /*unused*/) {
    ++cleaned;
}

static void* run(void* /*unused*/) {
    pthread_cleanup_push(clean, nullptr);
    try {
        const Guard guard;
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
        spin_on();
    } catch (...) {
        ++handled;
        throw;
    }
    pthread_cleanup_pop(0);
    return nullptr;
}

int main() {
    constexpr int kThreads = 500;
    int cancelled = 0;
    for (int i = 0; i < kThreads; ++i) {
        ready = false;
        pthread_t thread;
        void* result = nullptr;
        pthread_create(&thread, nullptr, run, nullptr);
        while (!ready)
            usleep(10);
        usleep(i % 100);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        cancelled += result == PTHREAD_CANCELED ? 1 : 0;
    }
    std::printf("%d cancelled, %d cleaned, %d handled, %d destroyed\n", cancelled, cleaned.load(),
                handled.load(), destroyed.load());
}
