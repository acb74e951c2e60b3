// Converts counts and ticks for floating-point arithmetic.
#pragma once

#include <cstdint>

namespace rdam::score {

/// Exact up to 2^53.
constexpr double as_double(std::uint64_t value) {
    return static_cast<double>(value);
}

}  // namespace rdam::score
