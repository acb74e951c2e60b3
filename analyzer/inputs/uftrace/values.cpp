#include "analyzer/inputs/uftrace/values.h"

#include <algorithm>
#include <cstring>

#include "analyzer/inputs/uftrace/records.h"

namespace rdam::inputs::uftrace {
namespace {

constexpr std::size_t kUnit = 4;  // values begin at multiples of it
constexpr std::size_t kLongDouble = 10;

std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

template <class Plain>
Plain load_value(std::string_view bytes) {
    Plain value{};
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
    return value;
}

std::int64_t signed_value(std::string_view bytes) {
    switch (bytes.size()) {
        case 1:
            return load_value<std::int8_t>(bytes);
        case 2:
            return load_value<std::int16_t>(bytes);
        case 4:
            return load_value<std::int32_t>(bytes);
        default:
            return load_value<std::int64_t>(bytes);
    }
}

/// The upper half of the register of an `int` is 0.
std::int64_t number_value(std::string_view bytes) {
    constexpr std::int64_t kLeast = 0xffff0000;
    constexpr std::int64_t kMost = 0xffffffff;
    const std::int64_t value = signed_value(bytes);
    return value > kLeast && value <= kMost ? static_cast<std::int32_t>(value) : value;
}

double floating_value(std::string_view bytes) {
    if (bytes.size() == sizeof(float)) return load_value<float>(bytes);
    if (bytes.size() == kLongDouble) return static_cast<double>(load_value<long double>(bytes));
    return load_value<double>(bytes);
}

std::uint64_t word_of(std::string_view bytes, ValueFormat format, TraceBuilder& texts) {
    switch (format) {
        case ValueFormat::number:
            return put_value(number_value(bytes));
        case ValueFormat::signed_number:
        case ValueFormat::character:
            return put_value(signed_value(bytes));
        case ValueFormat::floating:
            return put_value(floating_value(bytes));
        case ValueFormat::text:
            return texts.text(bytes.substr(2));
        default:
            return put_value(load_value<std::uint64_t>(bytes));
    }
}

}  // namespace

std::optional<std::size_t> decode_values(std::string_view data, const std::vector<ValueSpec>& specs,
                                         TraceBuilder& texts, std::vector<std::uint64_t>& words) {
    std::size_t at = 0;
    for (const ValueSpec& spec : specs) {
        if (at + spec.size > data.size()) return std::nullopt;
        std::size_t size = spec.size;
        if (spec.format == ValueFormat::text) size += load_value<std::uint16_t>(data.substr(at, 2));
        if (at + size > data.size()) return std::nullopt;
        if (spec.format != ValueFormat::structure)
            words.push_back(word_of(data.substr(at, size), spec.format, texts));
        at = rounded_up(at + size, kUnit);
    }
    at = rounded_up(at, kWordBytes);
    if (at > data.size()) return std::nullopt;
    return at;
}

}  // namespace rdam::inputs::uftrace
