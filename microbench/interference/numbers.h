// Random numbers of threads.
#pragma once

#include <random>

namespace rdam::microbench {

/// The same for the same thread in each run. Not from neighbouring seeds of a linear generator: the numbers
/// of two such threads are multiples of each other.
inline std::mt19937 numbers_of(unsigned thread) {
    std::seed_seq seed{thread};
    return std::mt19937(seed);
}

}  // namespace rdam::microbench
