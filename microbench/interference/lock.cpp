// Threads that need the same POSIX mutex (listing 5.1 of the thesis).
#include <pthread.h>

#include <memory>

#include "microbench/interference/pause.h"
#include "microbench/interference/places.h"
#include "microbench/interference/registry.h"
#include "microbench/interference/team.h"

namespace {

struct Locked {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    volatile std::uint64_t counter = 0;
};

}  // namespace

MEASURED void lock_increment(pthread_mutex_t* mutex, volatile std::uint64_t* counter) {
    pthread_mutex_lock(mutex);
    *counter = *counter + 1;
    pthread_mutex_unlock(mutex);
}

namespace rdam::microbench {
namespace {

Result<Outcome> run(const Point& point, bool own) {
    Places<Locked> places(point.threads, own);
    const Compute pause(point.delay_ns);
    return run_team(point, [&](unsigned thread) {
        Locked& locked = places.of(thread);
        return repeat(point, pause, [&] { lock_increment(&locked.mutex, &locked.counter); });
    });
}

Runner add(CLI::App& app) {
    const auto own = std::make_shared<bool>(false);
    app.add_flag("--private", *own, "Control: each thread has a mutex of its own");
    return measures("lock_increment", [own](const Point& point) { return run(point, *own); });
}

}  // namespace

const Benchmark kLock{
    .name = "lock",
    .summary = "Compute, then increment a counter that a mutex protects",
    .threads = 4,
    .iterations = 500'000,
    .delay = "100ns",
    .add = add,
};

}  // namespace rdam::microbench
