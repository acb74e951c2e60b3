#include "analyzer/inputs/chrome/own.h"

#include <algorithm>

#include "analyzer/inputs/build/trace_builder.h"
#include "wrappers/text/text_lines.h"

namespace rdam::inputs::chrome {

using rdam::chrome::Row;

namespace {

/// Behind the text's closing quotation mark, or the end; `text` begins with the opening one.
std::size_t end_of_text(std::string_view text) {
    for (std::size_t at = 1; at < text.size(); ++at) {
        if (text[at] == '"') return at + 1;
        if (text[at] == '\\') ++at;
    }
    return text.size();
}

/// What mining::shown_value() has made of it: without quotation marks and backslashes of their own.
std::string text_in(std::string_view quoted) {
    std::string text;
    for (std::size_t at = 1; at < quoted.size() && quoted[at] != '"'; ++at) {
        const bool escaped =
            quoted[at] == '\\' && at + 1 < quoted.size() && (quoted[at + 1] == '"' || quoted[at + 1] == '\\');
        if (escaped) ++at;
        text += quoted[at];
    }
    return text;
}

}  // namespace

OwnThread own_thread(const std::string& tid) {
    const auto number = number_in<std::uint32_t>(tid);
    if (!number) return {.row = Row::calls, .tid = tid};
    const rdam::chrome::Place place = rdam::chrome::place_of(*number);
    return {.row = place.row, .tid = std::to_string(place.number)};
}

std::optional<OwnValue> own_value(std::string_view text) {
    if (text.starts_with('"')) return OwnValue{.type = ValueType::text, .text = text_in(text)};
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
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos) return;
        const std::string_view name = text.substr(0, equals);
        text.remove_prefix(equals + 1);
        const std::size_t from = text.starts_with('"') ? end_of_text(text) : 0;
        const std::size_t end = std::min(text.find(kBetween, from), text.size());
        if (const auto value = own_value(text.substr(0, end))) take(name, *value);
        text.remove_prefix(std::min(end + kBetween.size(), text.size()));
    }
}

}  // namespace rdam::inputs::chrome
