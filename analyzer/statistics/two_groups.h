// Whether runs of one group have greater values than those of another: a permutation test of many values at once.
//
// If a change does nothing, each way of dividing all runs into groups of these sizes was as likely as the one that there is, whatever the
// distribution of the values and however they depend on one another (Fisher, The Design of Experiments, 1935). For each value, a
// division has the statistic t = (difference of the means) / (its standard error + that of runs which vary by kLeastSpread): the
// addend keeps a value that hardly varies from being declared for next to nothing (Tusher, Tibshirani, Chu, PNAS 98, 2001). The p of a
// value is the share of divisions in which the greatest t of all values is at least as large, stepped down from the
// largest t (Westfall, Young, Resampling-Based Multiple Testing, 1993, algorithm 2.8): the probability that anything false is declared
// at p ≤ risk is at most the risk, for all values together.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace rdam::score {

/// Divisions up to which all are made; of more, so many are drawn, with a fixed seed.
inline constexpr std::size_t kMostDivisions = 20'000;
inline constexpr double kLeastSpread = 0.01;
/// Of the intervals of single values.
inline constexpr double kConfidence = 0.95;

struct Shift {
    double difference = 0;  ///< mean of the second group − mean of the first
    /// The shifts that the test of this value alone does not reject, two-sided, with kConfidence (Hartigan, JASA 64, 1969). Nothing:
    /// there are too few runs for that.
    std::optional<double> low = {}, high = {};
    double p = 1;  ///< that the second group's are greater, adjusted for all values
};

/// The smallest p that groups of these sizes can have; 1 if one of them is empty.
double least_p(std::size_t first, std::size_t second);

/// `values`: for each value, the runs' figures (finite; logarithms, for relative differences), those of the first group first.
/// All have as many, at least three. By value.
std::vector<Shift> compare_groups(std::span<const std::vector<double>> values, std::size_t first);

}  // namespace rdam::score
