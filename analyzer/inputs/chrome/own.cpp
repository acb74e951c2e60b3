#include "analyzer/inputs/chrome/own.h"

#include <algorithm>

#include "analyzer/inputs/build/trace_builder.h"
#include "wrappers/text/text_lines.h"

namespace rdam::inputs::chrome {

using rdam::chrome::Row;

OwnThread own_thread(const std::string& tid) {
    const auto number = number_in<std::uint32_t>(tid);
    if (!number) return {.row = Row::calls, .tid = tid};
    const rdam::chrome::Place place = rdam::chrome::place_of(*number);
    return {.row = place.row, .tid = std::to_string(place.number)};
}

std::optional<OwnValue> own_value(std::string_view text) {
    if (text == "true" || text == "false")
        return OwnValue{ValueType::boolean, text == "true" ? std::uint64_t{1} : 0};
    if (text.starts_with("0x")) {
        const auto bits = number_in<std::uint64_t>(text.substr(2), 16);
        return bits ? std::optional{OwnValue{ValueType::address, *bits}} : std::nullopt;
    }
    if (const auto value = number_in<std::int64_t>(text))
        return OwnValue{ValueType::integer, put_value(*value)};
    if (const auto value = number_in<std::uint64_t>(text)) return OwnValue{ValueType::large, *value};
    if (const auto value = number_in<double>(text)) return OwnValue{ValueType::floating, put_value(*value)};
    return std::nullopt;
}

void each_own_value(std::string_view text,
                    const std::function<void(std::string_view name, const OwnValue&)>& take) {
    constexpr std::string_view kBetween = ", ";
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(kBetween), text.size());
        const std::string_view one = text.substr(0, end);
        text.remove_prefix(std::min(end + kBetween.size(), text.size()));
        const std::size_t equals = one.find('=');
        if (equals == std::string_view::npos) continue;
        if (const auto value = own_value(one.substr(equals + 1))) take(one.substr(0, equals), *value);
    }
}

}  // namespace rdam::inputs::chrome
