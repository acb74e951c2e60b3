#include "analyzer/inputs/paje/scan.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "analyzer/inputs/build/trace_builder.h"
#include "tools/base/text_lines.h"

namespace rdam::inputs::paje {
namespace {

bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
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

std::uint32_t leading_number(std::string_view text) {
    return number_in<std::uint32_t>(text.substr(0, text.find(' '))).value_or(0);
}

double value_of(const Decimal& decimal) {
    return static_cast<double>(decimal.digits) * std::pow(10.0, decimal.exponent);
}

std::uint64_t to_ticks(const Decimal& decimal, int scale) {
    return static_cast<std::uint64_t>(
        std::min<Wide>(in_units(decimal, scale).value_or(kMaxTicks), kMaxTicks));
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
