// Threads that need the same POSIX mutex (listing 5.1 of the thesis).
#include <pthread.h>

#include <memory>

#include "microbench/interference/increment.h"
#include "microbench/interference/pause.h"
#include "microbench/interference/places.h"
#include "microbench/interference/registry.h"
#include "microbench/interference/team.h"

namespace {

struct Locked {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    volatile std::uint64_t counters[rdam::microbench::kWordsOfAThread] = {};
};

}  // namespace

MEASURED void lock_increment(pthread_mutex_t* mutex, volatile std::uint64_t* counters,
                             std::uint64_t updates) {
    pthread_mutex_lock(mutex);
    rdam::microbench::increment(counters, updates);
    pthread_mutex_unlock(mutex);
}

namespace rdam::microbench {
namespace {

struct Options {
    bool own = false;
    std::uint64_t updates = kUpdates;
};

Result<Outcome> run(const Point& point, const Options& options) {
    Places<Locked> places(point.threads, options.own);
    const Compute pause(point.delay_ns);
    return run_team(point, [&](unsigned thread) {
        Locked& locked = places.of(thread);
        return repeat(point, pause, [&] { lock_increment(&locked.mutex, locked.counters, options.updates); });
    });
}

Runner add(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    app.add_flag("--private", options->own, "Control: each thread has a mutex of its own");
    add_updates(app, options->updates);
    return measures("lock_increment", [options](const Point& point) { return run(point, *options); });
}

}  // namespace

const Benchmark kLock{
    .name = "lock",
    .summary = "Compute, then increment a counter that a mutex protects",
    .threads = 2,
    .iterations = 300'000,
    .delay = "1us",
    .add = add,
};

}  // namespace rdam::microbench
