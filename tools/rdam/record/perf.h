// perf, as far as rdam needs it.
#pragma once

#include <optional>
#include <string>

#include "tools/base/files.h"

namespace rdam {

/// Why perf cannot sample programs here, and what to type.
struct PerfTrouble {
    std::string what = {};
    std::string remedy = {};
};

/// Samples a program that ends at once, with files in `place`. Nothing: perf works.
std::optional<PerfTrouble> try_perf(const TemporaryFolder& place);

}  // namespace rdam
