// What a variable of the calls explains of a function's loss, time taken into account.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "analyzer/hints/finders.h"

namespace rdam::hints {

/// Of call number i of the sample; nothing: the call has none, and is left out.
using Variable = std::function<std::optional<std::uint64_t>(std::size_t)>;

/// 0…1 (explained()). A variable that goes with time explains what happens to change with time: one that
/// explains less than half as much among calls of the same time gets that share. Where it hardly varies
/// within short times the two cannot be told apart, and it gets the whole.
double explained_by(const Suspicion& suspicion, const Variable& variable);

/// Of the calls for which `chosen`, half took less; 0 if there are none.
double median_ns(const Suspicion& suspicion, const std::function<bool(std::size_t)>& chosen);

/// The share of the lost time that the chosen calls have, and of the calls that they are.
struct Shares {
    double lost = 0;
    double calls = 0;
};
Shares shares_of(const Suspicion& suspicion, const std::function<bool(std::size_t)>& chosen);

}  // namespace rdam::hints
