// `rdam-microbench numa`: what distance between threads and memory costs, as C. Pousa Ribeiro, A. Carissimi and J.-F.
// Mehaut measured it (INRIA report RR-7330, tables 2 to 4, figures 9 to 18).
#pragma once

#include <CLI/App.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tools/base/result.h"

namespace rdam::microbench {

struct NumaOptions {
    std::vector<std::string> only;     ///< measurements; empty: all
    std::size_t elements = 2'000'000;  ///< of a vector, as in the report
    std::size_t large = 0;             ///< of the larger vector; 0: 4 × the last cache
    unsigned repetitions = 5;          ///< besides a first one, which does not count
    unsigned chunk = 1;                ///< elements that a thread of a dynamic schedule takes at a time
};

/// Declares the subcommand.
CLI::App& add_numa(CLI::App& root, NumaOptions& options);

/// Prints a line of JSON for each figure, and on standard error what this machine cannot show.
Result<void> run_numa(const NumaOptions& options);

}  // namespace rdam::microbench
