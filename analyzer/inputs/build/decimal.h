// Decimal numbers as they stand in a file, without a rounding to what a double can hold.
#pragma once

#include <optional>
#include <string_view>

namespace rdam::inputs {

__extension__ using Wide = unsigned __int128;

/// digits · 10^exponent, or less than 0.
struct Decimal {
    Wide digits = 0;   ///< without zeros at the end
    int exponent = 0;  ///< of 0: 0
    bool negative = false;

    /// How many digits after the point it takes.
    int decimals() const { return exponent < 0 ? -exponent : 0; }
};

/// `12`, `-12.5`, `.5`, `1.25e+01`. What is beyond 38 significant digits is cut off. Nothing: it is none of
/// these.
std::optional<Decimal> parse_decimal(std::string_view text);

/// Without its sign, in units of 10^-scale (0…18), rounded. Nothing: 128 bits are not enough.
std::optional<Wide> in_units(const Decimal& decimal, int scale);

}  // namespace rdam::inputs
