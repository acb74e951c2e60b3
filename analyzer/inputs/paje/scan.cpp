#include "analyzer/inputs/paje/scan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <system_error>

#include "analyzer/inputs/build/trace_builder.h"
#include "wrappers/text/text_lines.h"

namespace rdam::inputs::paje {
namespace {

constexpr int kPowers = 20;
constexpr int kMaxDigits = 19;

constexpr std::array<std::uint64_t, kPowers> kPowerOfTen = [] {
    std::array<std::uint64_t, kPowers> powers{};
    std::uint64_t power = 1;
    for (std::uint64_t& each : powers) {
        each = power;
        power *= 10;
    }
    return powers;
}();

bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Digits with a point in between, as far as they go.
struct Mantissa {
    std::uint64_t digits = 0;
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
    mantissa.fraction = static_cast<int>(std::min<std::ptrdiff_t>(at - point, 1 << 20));
    return at;
}

/// Nothing: it is no exponent, or one that no time has.
std::optional<int> scan_exponent(const char* at, const char* end) {
    constexpr int kMaxExponent = 9999;
    if (at == end) return 0;
    if (*at != 'e' && *at != 'E') return std::nullopt;
    ++at;
    if (at != end && *at == '+') {
        ++at;
        if (at == end || !is_digit(*at)) return std::nullopt;
    }
    int exponent = 0;
    const auto [rest, error] = std::from_chars(at, end, exponent);
    if (error != std::errc{} || rest != end || std::abs(exponent) > kMaxExponent) return std::nullopt;
    return exponent;
}

}  // namespace

std::optional<std::string_view> FieldCursor::next() {
    while (at_ != end_ && is_space(*at_))
        ++at_;
    if (at_ == end_ || *at_ == '#') return std::nullopt;
    const char* begin = at_;
    if (*begin == '"') {
        ++begin;
        const auto* quote =
            static_cast<const char*>(std::memchr(begin, '"', static_cast<std::size_t>(end_ - begin)));
        const char* end = quote == nullptr ? end_ : quote;
        at_ = quote == nullptr ? end_ : quote + 1;
        return std::string_view{begin, static_cast<std::size_t>(end - begin)};
    }
    while (at_ != end_ && !is_space(*at_))
        ++at_;
    return std::string_view{begin, static_cast<std::size_t>(at_ - begin)};
}

bool is_comment(std::string_view line) {
    if (line.starts_with('#')) return true;
    if (!line.starts_with("% ") && !line.starts_with("%\t") && line != "%") return false;
    const std::string_view word = FieldCursor{line.substr(1)}.next().value_or("");
    return word != "EventDef" && word != "EndEventDef";
}

double Decimal::value() const {
    return static_cast<double>(digits) * std::pow(10.0, exponent);
}

std::optional<Decimal> parse_decimal(std::string_view text) {
    const char* at = text.data();
    const char* end = at + text.size();
    if (at != end && *at == '+') ++at;
    Mantissa mantissa;
    at = scan_mantissa(at, end, mantissa);
    const std::optional<int> exponent = scan_exponent(at, end);
    if (!mantissa.any || !exponent) return std::nullopt;
    if (mantissa.digits == 0) return Decimal{};
    return Decimal{.digits = mantissa.digits, .exponent = *exponent + mantissa.zeros - mantissa.fraction};
}

std::uint32_t leading_number(std::string_view text) {
    return number_in<std::uint32_t>(text.substr(0, text.find(' '))).value_or(0);
}

std::uint64_t to_ticks(const Decimal& decimal, int scale) {
    const int shift = decimal.exponent + scale;
    if (shift <= -kPowers || decimal.digits == 0) return 0;
    if (shift < 0) {
        const std::uint64_t unit = kPowerOfTen[static_cast<std::size_t>(-shift)];
        return std::min(decimal.digits / unit + (decimal.digits % unit >= unit - unit / 2 ? 1 : 0),
                        kMaxTicks);
    }
    std::uint64_t ticks = 0;
    if (shift >= kPowers ||
        __builtin_mul_overflow(decimal.digits, kPowerOfTen[static_cast<std::size_t>(shift)], &ticks))
        return kMaxTicks;
    return std::min(ticks, kMaxTicks);
}

std::optional<std::uint64_t> parse_word(std::string_view text, Reading reading) {
    switch (reading) {
        case Reading::integer:
            if (const auto number = number_in<std::int64_t>(text)) return put_value(*number);
            break;
        case Reading::hexadecimal:
            if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
            return number_in<std::uint64_t>(text, 16);
        case Reading::floating:
            if (const auto number = number_in<double>(text); number && std::isfinite(*number))
                return put_value(*number);
            break;
        case Reading::text:
            break;
    }
    return std::nullopt;
}

Reading widened(Reading reading, std::string_view text) {
    if (reading == Reading::integer && parse_word(text, Reading::floating)) return Reading::floating;
    return Reading::text;
}

}  // namespace rdam::inputs::paje
