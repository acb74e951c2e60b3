// The errors of estimates from sampled call trees (a budget for overhead).
//
// Each outermost call tree was recorded with a probability p of its own, independently of the others: Poisson
// sampling. The Horvitz–Thompson estimate of a total Σ x over all trees is Σ w·x over the recorded ones, w =
// 1/p, and its variance is estimated by Σ w(w − 1)·x² (Särndal, Swensson, Wretman, Model Assisted Survey
// Sampling, 1992, §3.2 and result 2.8.1).
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rdam::score {

/// By how many standard deviations the highest of `count` independent normal values is above their mean, on
/// average: 0 for one, 0.56 for two (Tippett, On the extreme individuals, 1925), to 3 % up to 64, and for
/// more as for 64.
double highest_of_normals(std::size_t count);

/// What a difference is without what chance makes of it, at least 0: an empirical Bayes estimate, whose prior
/// has the variance that the difference has beyond its own, `error` squared.
double beyond_chance(double difference, double error);

/// w(w − 1): a recorded tree's part of the variance of the estimated number of trees.
double poisson_factor(std::uint64_t weight);

/// Σ w(w−1)c², Σ w(w−1)cD, Σ w(w−1)D² over trees with c calls of total duration D: from these comes the
/// variance of Σ w(D − m·c) for any m that is known only in the end.
struct Spread {
    double calls = 0;
    double mixed = 0;
    double squares = 0;
    std::uint64_t unrecorded = 0;  ///< Σ (w − 1)c: how many of the estimated calls are not in the trace

    template <class Archive>
    void fields(Archive& archive) {
        archive(calls, mixed, squares, unrecorded);
    }
    /// A tree of this weight. `times`: it is to count so often in the three sums.
    void add(std::uint64_t weight, std::uint64_t c, double d, double times = 1);
    void add(const Spread& other);
    double variance(double m) const;  ///< never below 0
};

/// What is kept of one function in one thread; all zero without sampling.
struct FunctionSampling {
    double count = 0;  ///< the variance of the estimated number of calls
    Spread times;      ///< of the scored outermost calls

    template <class Archive>
    void fields(Archive& archive) {
        archive(count, times);
    }
};

/// What is kept of one group of the function, if any of the group's calls was sampled.
struct GroupSampling {
    /// For the scored outermost calls. If a function has several groups in a tree, the sum of their variances
    /// is not below the variance of their sum (Cauchy–Schwarz).
    Spread outermost;
    Spread all;  ///< the inner calls of a recursion too; of this group alone

    template <class Archive>
    void fields(Archive& archive) {
        archive(outermost, all);
    }
};

/// Sums over the tree that is being read, and their results.
class TreeSums {
  public:
    explicit TreeSums(std::size_t functions) : functions_(functions) {}

    void count(std::uint32_t function);
    /// A scored call.
    void time(std::uint32_t function, std::uint32_t group, std::uint64_t duration, bool outermost);
    /// The tree has ended.
    void end(std::uint64_t weight);

    const std::vector<FunctionSampling>& functions() const { return functions_; }
    /// nullptr: none of the group's calls was sampled.
    const GroupSampling* group(std::uint32_t number) const;

    /// For an archive (tools/base/byte_archive.h): the results, once all trees have ended.
    template <class Archive>
    void fields(Archive& archive) {
        const std::size_t functions = functions_.size();
        archive(functions_, groups_);
        archive.expect(functions_.size() == functions);
    }

  private:
    struct Sum {
        std::uint32_t number = 0;    ///< of a function or group
        std::uint32_t function = 0;  ///< of groups
        std::uint64_t calls = 0;     ///< of groups the outermost ones
        std::uint64_t inner_calls = 0;
        double time = 0;
        double inner_time = 0;
    };
    /// Sums by number; forgetting them takes as long as there are sums.
    struct Sums {
        std::vector<Sum> sums;
        std::vector<std::uint32_t> places;  ///< 1 + index into sums, by number

        Sum& of(std::uint32_t number, std::uint32_t function);
        void clear();
    };

    Sums counts_;
    Sums times_;
    std::vector<FunctionSampling> functions_;
    tsl::robin_map<std::uint32_t, GroupSampling> groups_;
};

}  // namespace rdam::score
