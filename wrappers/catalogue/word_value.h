// The value that a recorded word holds.
#pragma once

#include <cstdint>
#include <variant>

#include "wrappers/catalogue/catalogue.h"

namespace rdam {

/// Integers and enumerators are signed or unsigned as their kind says; pointers are unsigned.
using WordValue = std::variant<std::int64_t, std::uint64_t, bool, float, double>;

/// `size`: in bytes; the rest of the word means nothing. 0: all of it is used. A kind that does not exist is
/// an unsigned integer.
WordValue value_of(ValueKind kind, unsigned size, std::uint64_t word);

}  // namespace rdam
