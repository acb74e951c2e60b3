#include "analyzer/inputs/build/decimal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace rdam::inputs {
namespace {

constexpr int kMaxDigits = 38;

constexpr std::array<Wide, kMaxDigits + 1> kPowerOfTen = [] {
    std::array<Wide, kMaxDigits + 1> powers{};
    Wide power = 1;
    for (Wide& each : powers) {
        each = power;
        power *= 10;
    }
    return powers;
}();

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Digits with a point in between, as far as they go.
struct Mantissa {
    Wide digits = 0;
    int taken = 0;     ///< significant digits in `digits`
    int zeros = 0;     ///< digits since the last one that counts: zeros, or more than fit
    int fraction = 0;  ///< digits after the point
    bool any = false;

    void add(char c) {
        any = true;
        if (c == '0' || taken + zeros >= kMaxDigits) {
            if (digits != 0) ++zeros;
            return;
        }
        digits = digits * kPowerOfTen[static_cast<std::size_t>(zeros) + 1] + static_cast<unsigned>(c - '0');
        taken += zeros + 1;
        zeros = 0;
    }
};

const char* scan_mantissa(const char* at, const char* end, Mantissa& mantissa) {
    for (; at != end && is_digit(*at); ++at)
        mantissa.add(*at);
    if (at == end || *at != '.') return at;
    const char* point = ++at;
    for (; at != end && is_digit(*at); ++at)
        mantissa.add(*at);
    mantissa.fraction = static_cast<int>(std::min<std::ptrdiff_t>(at - point, 1 << 28));
    return at;
}

/// Nothing: it is no exponent, or one that no number of a trace has.
std::optional<int> scan_exponent(const char* at, const char* end) {
    constexpr int kMaxExponent = 1'000'000'000;
    if (at == end) return 0;
    if (*at != 'e' && *at != 'E') return std::nullopt;
    ++at;
    if (at != end && *at == '+') {
        ++at;
        if (at == end || !is_digit(*at)) return std::nullopt;
    }
    int exponent = 0;
    const auto [rest, error] = std::from_chars(at, end, exponent);
    if (error != std::errc{} || rest != end) return std::nullopt;
    if (exponent < -kMaxExponent || exponent > kMaxExponent) return std::nullopt;
    return exponent;
}

}  // namespace

std::optional<Decimal> parse_decimal(std::string_view text) {
    const char* at = text.data();
    const char* end = at + text.size();
    const bool negative = at != end && *at == '-';
    if (at != end && (negative || *at == '+')) ++at;
    Mantissa mantissa;
    at = scan_mantissa(at, end, mantissa);
    const std::optional<int> exponent = scan_exponent(at, end);
    if (!mantissa.any || !exponent) return std::nullopt;
    if (mantissa.digits == 0) return Decimal{};
    return Decimal{.digits = mantissa.digits,
                   .exponent = *exponent + mantissa.zeros - mantissa.fraction,
                   .negative = negative};
}

std::optional<Wide> in_units(const Decimal& decimal, int scale) {
    const int shift = decimal.exponent + scale;
    if (decimal.digits == 0 || shift < -kMaxDigits) return 0;
    if (shift < 0) {
        const Wide unit = kPowerOfTen[static_cast<std::size_t>(-shift)];
        return decimal.digits / unit + (decimal.digits % unit >= unit - unit / 2 ? 1 : 0);
    }
    Wide units = 0;
    if (shift > kMaxDigits ||
        __builtin_mul_overflow(decimal.digits, kPowerOfTen[static_cast<std::size_t>(shift)], &units))
        return std::nullopt;
    return units;
}

}  // namespace rdam::inputs
