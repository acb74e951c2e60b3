// Every benchmark there is.
#pragma once

#include <span>

#include "microbench/interference/benchmark.h"

namespace rdam::microbench {

extern const Benchmark kLock;
extern const Benchmark kSpinlock;
extern const Benchmark kFalsesharing;
extern const Benchmark kIo;
extern const Benchmark kBarrier;
extern const Benchmark kCondvar;
extern const Benchmark kMembw;
extern const Benchmark kFalsepositive;
extern const Benchmark kNetwork;
extern const Benchmark kPlacement;

/// In the order in which they are listed.
std::span<const Benchmark* const> benchmarks();

}  // namespace rdam::microbench
