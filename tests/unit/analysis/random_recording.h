// Traces of random programs.
#pragma once

#include <cstdint>
#include <random>

#include "tests/unit/analysis/recording.h"

namespace rdam::test {

struct RandomShape {
    std::size_t functions = 4;
    int threads = 2;
    int events = 60;        ///< about, of each thread
    bool accidents = true;  ///< longjmp, lost pieces, leaves without enter, clocks that go backwards
};

Recording random_recording(std::mt19937_64& random, const RandomShape& shape);

}  // namespace rdam::test
