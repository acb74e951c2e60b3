// How much of a function's loss a variable of its calls explains, taking time into account.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/hints/loss_part.h"

namespace rdam::hints {

/// The value for call number i of the sample; nothing: the call has none, and is left out.
using ValueOf = std::function<std::optional<std::uint64_t>(std::size_t)>;

struct Explanation {
    double share = 0;  ///< of the loss, 0…1 (explained())
    /// Each value occurs at one time of the run only, so the time explains everything that the variable
    /// explains, and the two cannot be distinguished.
    bool or_time = false;
};

/// A variable that goes with time explains what happens to change with time. A variable that does so in part
/// is examined again among calls of the same time, and gets the share that it explains there if that is less
/// than half as much. If it hardly varies within short times, it cannot be distinguished from the time.
Explanation explanation_by(const LossPart& loss, const ValueOf& variable);
/// Its share.
double explained_by(const LossPart& loss, const ValueOf& variable);

/// The median of the calls for which `chosen` is true; 0 if there are none.
double median_ns(const LossPart& loss, const std::function<bool(std::size_t)>& chosen);

/// The share of the lost time that the chosen calls have, and of the calls that they are.
struct Shares {
    double lost = 0;
    double calls = 0;
};
Shares shares_of(const LossPart& loss, const std::function<bool(std::size_t)>& chosen);
/// A share in whole percent, as a text; "less than 1 %" where that would be none.
std::string share_text(double share);
/// shares_of() without the chosen call that lost most: what a single call did is no habit.
Shares shares_without_worst(const LossPart& loss, const std::function<bool(std::size_t)>& chosen);
/// The calls have at least half of what they could have more of the loss than is their share.
bool stands_out(const Shares& shares);

// Whether a variable of the calls can be distinguished from the time in the run.

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
