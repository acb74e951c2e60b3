// Whether a variable of the calls can be distinguished from the time in the run.
#pragma once

#include <cstdint>
#include <vector>

namespace rdam::hints {

/// A call, as far as this is concerned.
struct Moment {
    std::uint32_t stratum = 0;  ///< only calls of one stratum are compared with one another
    std::uint64_t begin = 0;
    std::uint64_t value = 0;  ///< of the variable; order means something
    double weight = 1;        ///< how much the call matters
};

/// How well the variable predicts the time of a call, 0…1: 1 if each value, or about equal values, occur at
/// one time only, like those of a counter; about 0 if each occurs at all times.
///
/// A correlation ratio (K. Pearson, On the general theory of skew correlation, 1905) of the order in time by
/// classes of the value, less what chance makes of it, as a share of what classes of these sizes can reach.
double goes_with_time(std::vector<Moment> calls);

}  // namespace rdam::hints
