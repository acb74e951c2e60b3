// Threads that need the same POSIX mutex (listing 5.1 of the thesis).
#include <pthread.h>

#include "microbench/interference/guarded.h"
#include "microbench/interference/registry.h"

namespace {

struct Mutex {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
};
using Guarded = rdam::microbench::Guarded<Mutex>;

}  // namespace

MEASURED void lock_increment(Guarded* guarded, std::uint64_t updates) {
    pthread_mutex_lock(&guarded->lock.mutex);
    rdam::microbench::increment(guarded->counters, updates);
    pthread_mutex_unlock(&guarded->lock.mutex);
}

namespace rdam::microbench {

const Benchmark kLock{
    .name = "lock",
    .summary = "Compute, then increment a counter that a mutex protects",
    .threads = 2,
    .iterations = 300'000,
    .delay = "1us",
    .add = [](CLI::App& app) { return measures_guarded(app, "lock_increment", lock_increment); },
};

}  // namespace rdam::microbench
