// Threads that need the same spin lock (listing 5.1 of the thesis).
#include <pthread.h>

#include <memory>

#include "microbench/interference/pause.h"
#include "microbench/interference/places.h"
#include "microbench/interference/registry.h"
#include "microbench/interference/team.h"

namespace {

struct Locked {
    pthread_spinlock_t spinlock;
    Locked() { pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE); }
    volatile std::uint64_t counter = 0;
};

}  // namespace

MEASURED void spinlock_increment(pthread_spinlock_t* spinlock, volatile std::uint64_t* counter) {
    pthread_spin_lock(spinlock);
    *counter = *counter + 1;
    pthread_spin_unlock(spinlock);
}

namespace rdam::microbench {
namespace {

Result<Outcome> run(const Point& point, bool own) {
    Places<Locked> places(point.threads, own);
    const Compute pause(point.delay_ns);
    return run_team(point, [&](unsigned thread) {
        Locked& locked = places.of(thread);
        return repeat(point, pause, [&] { spinlock_increment(&locked.spinlock, &locked.counter); });
    });
}

Runner add(CLI::App& app) {
    const auto own = std::make_shared<bool>(false);
    app.add_flag("--private", *own, "Control: each thread has a lock of its own");
    return measures("spinlock_increment", [own](const Point& point) { return run(point, *own); });
}

}  // namespace

const Benchmark kSpinlock{
    .name = "spinlock",
    .summary = "Compute, then increment a counter that a spin lock protects",
    .threads = 2,
    .iterations = 500'000,
    .delay = "100ns",
    .add = add,
};

}  // namespace rdam::microbench
