// What a micro-benchmark is: one file that defines one, one line in registry.cpp.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "tools/base/result.h"

/// The definition of a function that rdam can be told to record: called once for each iteration, under this
/// name. What the compiler knows about it must not leave its file.
#ifdef __clang__
#define MEASURED extern "C" __attribute__((noinline, used))
#else
#define MEASURED extern "C" __attribute__((noipa, used))
#endif

/// In a measured function without effects: clang leaves out calls whose results nobody uses.
#define KEEP_CALLS() asm volatile("" ::: "memory")

namespace rdam::microbench {

/// One point of a sweep, for options that all benchmarks have.
struct Point {
    unsigned threads = 1;
    std::uint64_t iterations = 1;  ///< calls of the measured operation, for each thread
    double delay_ns = 0;           ///< between two of them: never part of the measured operation
    bool pin = false;              ///< thread i stays on the i-th processor that the process may use
    bool self_timed = false;       ///< the clock is read before and after each call
    bool together = false;         ///< all stop when the first thread has made its calls
};

struct Outcome {
    double seconds = 0;             ///< from the common start to the end of the last thread
    std::uint64_t calls = 0;        ///< of the measured operation, of all threads together
    std::optional<double> mean_ns;  ///< of these; only if self_timed
};

using RunPoint = std::function<Result<Outcome>(const Point&)>;

/// What runs the points of a benchmark whose options have been parsed.
struct Runner {
    std::function<std::string_view()> operation;  ///< name of the measured function
    RunPoint run;
};

struct Benchmark {
    std::string_view name;
    std::string_view summary;  ///< one line, without a full stop
    unsigned threads;          ///< the defaults of the common options …
    std::uint64_t iterations;
    std::string_view delay;
    /// Declares the options that only this one has. They live in what is returned.
    Runner (*add)(CLI::App& app);
};

/// A Runner whose operation does not depend on options.
inline Runner measures(std::string_view operation, RunPoint run) {
    return {[operation] { return operation; }, std::move(run)};
}

}  // namespace rdam::microbench
