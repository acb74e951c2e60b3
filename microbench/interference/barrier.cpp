// Threads that wait for each other, because the work is not the same for all.
#include <pthread.h>

#include <memory>
#include <random>

#include "microbench/interference/numbers.h"
#include "microbench/interference/pause.h"
#include "microbench/interference/registry.h"
#include "microbench/interference/team.h"

MEASURED void wait_for_others(pthread_barrier_t* barrier) {
    pthread_barrier_wait(barrier);
}

namespace rdam::microbench {
namespace {

/// The delay is what a thread has to do before it comes to the barrier, on average. Drawn each time anew:
/// somebody who waits equally long every time has no fast execution to be compared with.
Result<Outcome> run(const Point& point, bool equal) {
    pthread_barrier_t barrier;
    if (pthread_barrier_init(&barrier, nullptr, point.threads) != 0) {
        return fail("the system refuses a barrier for {} threads; ask for fewer with --threads",
                    point.threads);
    }
    const Compute work(point.delay_ns);
    Result<Outcome> outcome = run_team(point, [&](const Seat& seat) {
        std::mt19937 random = numbers_of(seat.number);
        std::uniform_real_distribution<double> share(0, 2);
        return repeat(
            point, seat, [&] { work(equal ? 1 : share(random)); }, [&] { wait_for_others(&barrier); });
    });
    pthread_barrier_destroy(&barrier);
    return outcome;
}

Runner add(CLI::App& app) {
    const auto equal = std::make_shared<bool>(false);
    app.add_flag("--equal", *equal, "All threads have the same work each time: what is left is waking up");
    return measures("wait_for_others", [equal](const Point& point) { return run(point, *equal); });
}

}  // namespace

const Benchmark kBarrier{
    .name = "barrier",
    .summary = "Compute, not equally long, then wait for the others at a barrier",
    .threads = 2,
    .iterations = 10'000,
    .delay = "30us",
    .add = add,
};

}  // namespace rdam::microbench
