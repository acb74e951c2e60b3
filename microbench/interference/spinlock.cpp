// Threads that need the same spin lock (listing 5.1 of the thesis).
#include <pthread.h>

#include "microbench/interference/guarded.h"
#include "microbench/interference/registry.h"

namespace {

class Spinlock {
  public:
    Spinlock() { pthread_spin_init(&spinlock_, PTHREAD_PROCESS_PRIVATE); }
    void lock() { pthread_spin_lock(&spinlock_); }
    void unlock() { pthread_spin_unlock(&spinlock_); }

  private:
    pthread_spinlock_t spinlock_;
};
using Guarded = rdam::microbench::Guarded<Spinlock>;

}  // namespace

MEASURED void spinlock_increment(Guarded* guarded, std::uint64_t updates) {
    guarded->increment_locked(updates);
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
