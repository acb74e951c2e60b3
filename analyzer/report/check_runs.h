// Whether a program got worse: several runs before a change, several after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/report/report.h"
#include "analyzer/statistics/two_groups.h"

namespace rdam::score {

enum class Measure : std::uint8_t {
    run_time,       ///< nanoseconds from the start of the run's first process to the end of its last
    loss_per_call,  ///< nanoseconds: Σ lost_ns over Σ occurrences of all processes of the run
    calls,          ///< Σ occurrences
};

/// By how much each may grow, as a share: 0.05 is 5 %.
struct CheckLimits {
    double run_time = 0.05, loss_per_call = 0.05, calls = 0.05;
    double risk =
        0.01;  ///< the probability that anything is declared worse of runs that differ by chance alone
};

/// What one of the groups had.
struct OverRuns {
    double mean = 0, least = 0, greatest = 0;
};

struct CheckRow {
    Measure measure = Measure::run_time;
    std::string function =
        {};  ///< shown_names(), with the file where that is needed; of the time of a run: empty
    OverRuns before = {}, after = {};
    /// Of `after` over `before`, less 1: what the geometric means say. Nothing: a run had 0.
    std::optional<double> change = {};
    std::optional<double> low = {}, high = {};  ///< its interval (Shift), with kConfidence
    double p = 1;                               ///< Shift::p
    /// p is at most the risk, and the change at least the limit, where 0 counts as a thousandth of the mean.
    bool worse = false;
};

/// A function that is not compared.
struct Uncompared {
    std::string function;
    std::string why;  ///< `is recorded only before`
};

struct CheckResult {
    std::string program;  ///< empty: not known
    std::size_t runs_before = 0, runs_after = 0;
    std::vector<CheckRow> rows;  ///< the time of the run first, then losses, then calls; the smallest p first
    std::vector<Uncompared> uncompared;
};

/// Reports of processes of one run (ProcessInfo::run) are one run. Losses are compared of functions that lost kMayBeSome or
/// more on average over all runs of both sides, whose score was above the floor in half of them, and that do
/// not wait by design. Both sides need a run, and together three.
CheckResult check_runs(std::span<const Report> before, std::span<const Report> after,
                       const CheckLimits& limits);

/// How many runs these are.
std::size_t count_runs(std::span<const Report> reports);

}  // namespace rdam::score
