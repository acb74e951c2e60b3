// How much of a function's loss a variable explains: a parameter, the return value, the
// caller, …
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
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rdam::hints {

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
