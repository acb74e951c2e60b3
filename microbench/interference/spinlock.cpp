// Threads that need the same spin lock (listing 5.1 of the thesis).
#include <pthread.h>

#include "microbench/interference/guarded.h"
#include "microbench/interference/registry.h"

namespace {

struct Spinlock {
    Spinlock() { pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE); }
    pthread_spinlock_t spinlock;
};
using Guarded = rdam::microbench::Guarded<Spinlock>;

}  // namespace

MEASURED void spinlock_increment(Guarded* guarded, std::uint64_t updates) {
    pthread_spin_lock(&guarded->lock.spinlock);
    rdam::microbench::increment(guarded->counters, updates);
    pthread_spin_unlock(&guarded->lock.spinlock);
}

namespace rdam::microbench {

const Benchmark kSpinlock{
    .name = "spinlock",
    .summary = "Compute, then increment a counter that a spin lock protects",
    .threads = 2,
    .iterations = 300'000,
    .delay = "1us",
    .add = [](CLI::App& app) { return measures_guarded(app, "spinlock_increment", spinlock_increment); },
};

}  // namespace rdam::microbench
