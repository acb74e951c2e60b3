// How much of a function's loss a variable of its calls explains, taking time into account.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/hints/finders.h"

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

// What it means to explain.
//
// A loss is what a call took beyond the fastest of those that it is compared with. With a variable as key the
// calls are compared within each of its values (or within as many intervals of them as the sample bears,
// where there are many): what is then left of the loss, L′, gives the share 1 − L′/L. Monotone, categorical
// and non-monotone dependence are all seen by that. Smaller classes have higher minima by chance alone, so
// the same is done with the variable shuffled among the calls: with e₀ the mean share of those, (e − e₀)/(1 −
// e₀) is what the variable explains. It is 0 on average for one that has nothing to do with the loss, however
// many values it has (the correction of Cohen's κ, Educ. Psychol. Meas. 20, 1960). The correction is one of
// means: with a value for nearly every call there is hardly anything left to compare, and the few pairs that
// are decide. So the calls of a class are compared if they are kMinInClass at least; what others lost
// stays unexplained.

/// A call, as far as this is concerned.
struct Loss {
    double lost = 0;
    double weight = 1;          ///< the number of calls it represents
    std::uint32_t stratum = 0;  ///< only calls of one stratum are compared with one another
    std::uint64_t value = 0;    ///< of the variable; order means something
};

/// Strata with fewer calls say nothing: their loss stays unexplained.
inline constexpr std::size_t kMinInStratum = 20;

/// A class of fewer calls has a minimum that says nothing of the rest of them.
inline constexpr std::size_t kMinInClass = 5;

/// Where classes of calls end that are in the order of their `value`: each has `least` calls, the last one
/// perhaps fewer, or more where more are equal; equal values are in the same one.
template <class Call>
std::vector<std::size_t> class_ends(std::span<const Call> calls, std::size_t least) {
    std::vector<std::size_t> ends;
    std::size_t begin = 0;
    for (std::size_t i = 1; i <= calls.size(); ++i) {
        if (i < calls.size() && (calls[i].value == calls[i - 1].value || i - begin < least)) continue;
        ends.push_back(i);
        begin = i;
    }
    return ends;
}

/// 0…1. The result depends on the calls alone: the shuffling is the same each time.
double explained(std::span<const Loss> calls);

/// Orders values of a parameter (rdam::ValueKind, bytes) as numbers do.
std::uint64_t ordered(std::uint64_t word, std::uint8_t kind, std::uint8_t size);

}  // namespace rdam::hints
