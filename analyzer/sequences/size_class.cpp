#include "analyzer/sequences/size_class.h"

#include <fmt/format.h>

#include <bit>
#include <variant>

#include "wrappers/catalogue/word_value.h"

namespace rdam::mining {
namespace {

constexpr unsigned kBitsInOctave = 3;  // of a value below its highest one: 8 classes

std::uint64_t mask_of_bytes(std::uint8_t size) {
    return size == 0 || size >= 8 ? UINT64_MAX : (std::uint64_t{1} << (8 * size)) - 1;
}

/// The lowest bits that values of the class of `magnitude` may differ in.
unsigned free_bits(std::uint64_t magnitude) {
    const auto bits = static_cast<unsigned>(std::bit_width(magnitude));
    return bits <= kBitsInOctave + 1 ? 0 : bits - kBitsInOctave - 1;
}

std::uint64_t rounded(std::uint64_t magnitude) {
    const unsigned bits = free_bits(magnitude);
    return magnitude >> bits << bits;
}

bool is_signed(ValueKind kind) {
    return kind == ValueKind::signed_integer || kind == ValueKind::enumeration;
}

std::int64_t signed_value(ValueKind kind, std::uint8_t size, std::uint64_t word) {
    return std::get<std::int64_t>(value_of(kind, size, word));
}

unsigned mantissa_bits(std::uint8_t size) {
    constexpr unsigned kFloat = 23, kDouble = 52;
    return size == sizeof(float) ? kFloat : kDouble;
}

}  // namespace

std::uint64_t size_class(std::uint64_t word, std::uint8_t kind, std::uint8_t size) {
    const auto what = static_cast<ValueKind>(kind);
    if (what == ValueKind::floating)
        return (word & mask_of_bytes(size)) >> mantissa_bits(size) << mantissa_bits(size);
    if (!is_signed(what)) return rounded(word & mask_of_bytes(size));
    const std::int64_t value = signed_value(what, size, word);
    if (value >= 0) return rounded(static_cast<std::uint64_t>(value));
    return (0 - rounded(0 - static_cast<std::uint64_t>(value))) & mask_of_bytes(size);
}

std::string size_class_text(const trace::ParameterInfo& parameter, std::uint64_t size_class) {
    const auto kind = static_cast<ValueKind>(parameter.kind);
    const std::uint64_t first = size_class & mask_of_bytes(parameter.size);
    std::uint64_t last = first;
    if (kind == ValueKind::floating) {
        last = first | ((std::uint64_t{1} << mantissa_bits(parameter.size)) - 1);
    } else {
        const bool negative = is_signed(kind) && signed_value(kind, parameter.size, first) < 0;
        const std::uint64_t magnitude =
            negative ? 0 - static_cast<std::uint64_t>(signed_value(kind, parameter.size, first)) : first;
        const std::uint64_t more = (std::uint64_t{1} << free_bits(magnitude)) - 1;
        last = (negative ? first - more : first + more) & mask_of_bytes(parameter.size);
    }
    const auto text = [&](std::uint64_t word) {
        return std::visit([](auto value) { return fmt::format("{:.4}", static_cast<double>(value)); },
                          value_of(kind, parameter.size, word));
    };
    const auto whole = [&](std::uint64_t word) {
        const ValueKind shown = kind == ValueKind::pointer ? ValueKind::unsigned_integer : kind;
        return std::visit([](auto value) { return fmt::format("{}", value); },
                          value_of(shown, parameter.size, word));
    };
    if (kind == ValueKind::floating) return text(first) + "…" + text(last);
    return first == last ? whole(first) : whole(first) + "…" + whole(last);
}

}  // namespace rdam::mining
