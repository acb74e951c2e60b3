#include "analyzer/inputs/chrome/events/decimal.h"

#include <algorithm>
#include <string>

#include "wrappers/text/text_lines.h"

namespace rdam::inputs::chrome {
namespace {

/// The digits of a number, and how many of them are before the point.
struct Digits {
    std::string all;
    std::int64_t before_point = 0;
    bool negative = false;
};

constexpr bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

std::optional<Digits> digits_in(std::string_view text) {
    Digits digits;
    if (!text.empty() && text.front() == '-') {
        digits.negative = true;
        text.remove_prefix(1);
    }
    std::size_t at = 0;
    for (; at < text.size() && is_digit(text[at]); ++at)
        digits.all += text[at];
    digits.before_point = static_cast<std::int64_t>(digits.all.size());
    if (at < text.size() && text[at] == '.')
        for (++at; at < text.size() && is_digit(text[at]); ++at)
            digits.all += text[at];
    if (digits.all.empty()) return std::nullopt;
    if (at == text.size()) return digits;
    if (text[at] != 'e' && text[at] != 'E') return std::nullopt;
    text.remove_prefix(at + 1);
    if (!text.empty() && text.front() == '+') text.remove_prefix(1);
    const auto exponent = number_in<std::int32_t>(text);
    if (!exponent) return std::nullopt;
    digits.before_point += *exponent;
    return digits;
}

}  // namespace

std::optional<Decimal> decimal_in(std::string_view text) {
    const auto digits = digits_in(text);
    if (!digits) return std::nullopt;
    constexpr std::int64_t kPlaces = 6;  // of kParts
    const auto digit = [&](std::int64_t at) {
        const bool there = at >= 0 && at < static_cast<std::int64_t>(digits->all.size());
        return there ? static_cast<std::uint64_t>(digits->all[static_cast<std::size_t>(at)] - '0') : 0;
    };
    // Leading zeros tell nothing, and an exponent may move what counts far away.
    const auto first =
        static_cast<std::int64_t>(std::min(digits->all.find_first_not_of('0'), digits->all.size()));
    std::int64_t whole = 0;
    for (std::int64_t at = first; at < digits->before_point; ++at) {
        if (first == static_cast<std::int64_t>(digits->all.size())) break;
        if (whole >= Decimal::kMostWhole / 10 - 1) return std::nullopt;
        whole = whole * 10 + static_cast<std::int64_t>(digit(at));
    }
    std::uint32_t parts = 0;
    for (std::int64_t place = 0; place < kPlaces; ++place)
        parts = parts * 10 + static_cast<std::uint32_t>(digit(digits->before_point + place));
    if (digit(digits->before_point + kPlaces) >= 5) ++parts;
    if (parts == Decimal::kParts) {
        parts = 0;
        ++whole;
    }
    if (digits->negative) {
        whole = -whole - (parts != 0 ? 1 : 0);
        parts = parts != 0 ? Decimal::kParts - parts : 0;
    }
    return Decimal{whole, parts};
}

}  // namespace rdam::inputs::chrome
