// How long something takes when nothing disturbs it.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>

namespace rdam::microbench {

/// Nanoseconds of the fastest of 20 executions.
template <class Function>
double least_time(const Function& function) {
    constexpr int kTries = 20;
    double best = std::numeric_limits<double>::max();
    for (int i = 0; i < kTries; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        function();
        const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
        best = std::min(best, taken.count());
    }
    return best;
}

}  // namespace rdam::microbench
