// Functions of time that are constant between finitely many moments: sets of times, and how much is lost
// when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rdam::hints {

/// [begin, end), in ticks.
struct Interval {
    std::uint64_t begin = 0, end = 0;

    friend bool operator==(const Interval&, const Interval&) = default;
};

using Intervals = std::vector<Interval>;

/// As sorted, disjoint intervals that are not empty. Any intervals, in any order.
Intervals united(Intervals intervals);

/// 0 outside of its parts. Immutable, hence thread-safe.
class Steps {
  public:
    struct Part {
        Interval time;
        double value = 0;
    };

    Steps() = default;
    /// Their sum. Any parts, in any order. O(n log n).
    explicit Steps(std::span<const Part> parts);
    /// 1 at these times, which are as `united` gives them. O(n).
    explicit Steps(const Intervals& set);

    /// ∫ of the two's product over all times. O(n log m), n the number of moments of the one
    /// that has fewer.
    friend double product(const Steps& a, const Steps& b);

  private:
    /// The integral is linear between two moments.
    struct Moment {
        std::uint64_t time = 0;
        double until = 0;  ///< ∫ of all times before
    };

    /// ∫ of all times before `time`. `passed`: how many moments are known not to be later, and then how many
    /// are.
    double until(std::uint64_t time, std::size_t& passed) const;

    std::vector<Moment> moments_;
};

}  // namespace rdam::hints
