// Times as JSON files have them: decimal numbers of microseconds, read without rounding through a double.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rdam::inputs::chrome {

/// whole + millionths / 10⁶ (microseconds and picoseconds, for a time).
struct Decimal {
    static constexpr std::uint32_t kParts = 1'000'000;
    static constexpr std::int64_t kMostWhole = std::int64_t{1} << 61;

    std::int64_t whole = 0;        ///< rounded down; within ±kMostWhole
    std::uint32_t millionths = 0;  ///< below kParts

    friend bool operator==(const Decimal&, const Decimal&) = default;
};

/// A number of JSON, exponent included, rounded to millionths. Nothing: it is none, or too large.
std::optional<Decimal> decimal_in(std::string_view text);

}  // namespace rdam::inputs::chrome
