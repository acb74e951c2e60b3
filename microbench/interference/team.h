// Threads that start together and repeat an operation.
#pragma once

#include <x86intrin.h>

#include <cstdint>
#include <functional>

#include "microbench/interference/benchmark.h"

namespace rdam::microbench {

/// Calls work(0) … work(point.threads - 1), each in a thread of its own, from a common start, and waits for
/// them. What work returns are the ticks of the time-stamp counter inside measured operations, 0 if they were
/// not timed. An error where the system refuses threads, or places for them.
Result<Outcome> run_team(const Point& point, const std::function<std::uint64_t(unsigned)>& work);

/// Binds the calling thread to the processor that belongs to thread `number`, if the point says so. False if
/// the system refuses. Those of run_team have been there; one that starts a thread of its own takes a number
/// behind them.
bool take_place(const Point& point, unsigned number);

/// The loop of a thread: `pause`, then `operation`, so often. Returns the ticks inside `operation`, 0 if the
/// point is not self-timed.
template <class Pause, class Operation>
std::uint64_t repeat(const Point& point, const Pause& pause, const Operation& operation) {
    if (!point.self_timed) {
        for (std::uint64_t i = 0; i < point.iterations; ++i) {
            pause();
            operation();
        }
        return 0;
    }
    std::uint64_t ticks = 0;
    for (std::uint64_t i = 0; i < point.iterations; ++i) {
        pause();
        unsigned processor = 0;
        const std::uint64_t begin = __rdtscp(&processor);
        operation();
        ticks += __rdtscp(&processor) - begin;
    }
    return ticks;
}

}  // namespace rdam::microbench
