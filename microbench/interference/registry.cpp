#include "microbench/interference/registry.h"

#include <array>

namespace rdam::microbench {

std::span<const Benchmark* const> benchmarks() {
    static constexpr std::array kAll{
        &kLock,    &kSpinlock, &kFalsesharing,  &kIo,      &kBarrier,
        &kCondvar, &kMembw,    &kFalsepositive, &kNetwork, &kPlacement,
    };
    return kAll;
}

}  // namespace rdam::microbench
