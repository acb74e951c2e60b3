// Threads that start together and repeat an operation.
#pragma once

#include <x86intrin.h>

#include <atomic>
#include <cstdint>
#include <functional>

#include "microbench/interference/benchmark.h"

namespace rdam::microbench {

/// A thread's place in a team.
struct Seat {
    unsigned number = 0;
    std::atomic<bool>& over;  ///< somebody has made all calls
};

/// What a thread has done.
struct Spent {
    std::uint64_t calls = 0;
    std::uint64_t ticks =
        0;  ///< of the time-stamp counter, inside measured operations; 0 if they were not timed
};

/// Calls work for the seats 0 … point.threads - 1, each in a thread of its own, from a common start, and
/// waits for them. An error where the system refuses threads, or places for them.
Result<Outcome> run_team(const Point& point, const std::function<Spent(const Seat&)>& work);

/// Binds the calling thread to the processor that belongs to thread `number`, if the point says so. False if
/// the system refuses. Those of run_team have been there; one that starts a thread of its own takes a number
/// behind them.
bool take_place(const Point& point, unsigned number);

/// The error of a benchmark one of whose threads could not take its place.
tl::unexpected<Error> no_place();

/// The loop of a thread: `pause`, then `operation`, so often, or until somebody else has done so.
template <class Pause, class Operation>
Spent repeat(const Point& point, const Seat& seat, const Pause& pause, const Operation& operation) {
    Spent spent;
    for (; spent.calls < point.iterations; ++spent.calls) {
        pause();
        if (point.together && seat.over.load(std::memory_order_relaxed)) break;
        if (!point.self_timed) {
            operation();
            continue;
        }
        unsigned processor = 0;
        const std::uint64_t begin = __rdtscp(&processor);
        operation();
        spent.ticks += __rdtscp(&processor) - begin;
    }
    seat.over.store(true, std::memory_order_relaxed);
    return spent;
}

}  // namespace rdam::microbench
