// Threads that need the same POSIX mutex (listing 5.1 of the thesis).
#include <pthread.h>

#include "microbench/interference/guarded.h"
#include "microbench/interference/registry.h"

namespace {

class Mutex {
  public:
    void lock() { pthread_mutex_lock(&mutex_); }
    void unlock() { pthread_mutex_unlock(&mutex_); }

  private:
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};
using Guarded = rdam::microbench::Guarded<Mutex>;

}  // namespace

MEASURED void lock_increment(Guarded* guarded, std::uint64_t updates) {
    guarded->increment_locked(updates);
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
