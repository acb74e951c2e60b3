#include "wrappers/catalogue/signature.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

namespace rdam {

namespace {

struct NamedType {
    std::string_view name;
    ValueKind kind;
    std::uint8_t size;
};

constexpr std::array kTypes = {
    NamedType{"i8", ValueKind::signed_integer, 1},    NamedType{"i16", ValueKind::signed_integer, 2},
    NamedType{"i32", ValueKind::signed_integer, 4},   NamedType{"i64", ValueKind::signed_integer, 8},
    NamedType{"u8", ValueKind::unsigned_integer, 1},  NamedType{"u16", ValueKind::unsigned_integer, 2},
    NamedType{"u32", ValueKind::unsigned_integer, 4}, NamedType{"u64", ValueKind::unsigned_integer, 8},
    NamedType{"ptr", ValueKind::pointer, 8},          NamedType{"bool", ValueKind::boolean, 1},
    NamedType{"f32", ValueKind::floating, 4},         NamedType{"f64", ValueKind::floating, 8},
    NamedType{"enum", ValueKind::enumeration, 4},     NamedType{"handle", ValueKind::unsigned_integer, 4},
};

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(' ');
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::optional<CatalogueParameter> of_type(std::string_view name, std::string_view type) {
    const auto* found = std::ranges::find_if(kTypes, [&](const NamedType& t) { return t.name == type; });
    if (found == kTypes.end()) return std::nullopt;
    return CatalogueParameter{std::string(name), found->kind, found->size};
}

constexpr std::string_view kKey = "key ";
constexpr std::string_view kSize = "size ";

Result<void> add_parameter(CatalogueFunction& function, std::string_view text) {
    if (function.variadic) return fail("{}: nothing may follow '...'", function.name);
    if (text == "...") {
        function.variadic = true;
        return {};
    }
    const bool size = text.starts_with(kSize);
    const bool key = size || text.starts_with(kKey);
    if (key) text = trim(text.substr(size ? kSize.size() : kKey.size()));
    const auto colon = text.find(':');
    if (colon == std::string_view::npos || colon == 0)
        return fail("{}: parameter '{}' is not of the form 'name: type'", function.name, text);
    const auto name = trim(text.substr(0, colon));
    auto parameter = of_type(name, trim(text.substr(colon + 1)));
    if (!parameter) return fail("{}: parameter '{}' has an unknown type", function.name, text);
    if (key) function.keys.emplace_back(name);
    if (size) function.sizes.emplace_back(name);
    function.parameters.push_back(std::move(*parameter));
    return {};
}

std::string_view type_name(const CatalogueParameter& parameter) {
    const auto* found = std::ranges::find_if(kTypes, [&](const NamedType& type) {
        return type.kind == parameter.kind && type.size == parameter.size;
    });
    return found == kTypes.end() ? std::string_view{} : found->name;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::string signature_text(const CatalogueFunction& function) {
    std::string text;
    for (const CatalogueParameter& parameter : function.parameters) {
        if (!text.empty()) text += ", ";
        if (contains(function.sizes, parameter.name))
            text += kSize;
        else if (contains(function.keys, parameter.name))
            text += kKey;
        text.append(parameter.name).append(": ").append(type_name(parameter));
    }
    if (function.variadic) text += text.empty() ? "..." : ", ...";
    if (function.result)
        text.append(" -> ").append(function.result_is_size ? kSize : "").append(type_name(*function.result));
    return text;
}

Result<CatalogueFunction> parse_signature(std::string_view name, std::string_view text) {
    CatalogueFunction function;
    function.name = name;
    const auto arrow = text.find("->");
    if (arrow != std::string_view::npos) {
        auto result = trim(text.substr(arrow + 2));
        function.result_is_size = result.starts_with(kSize);
        if (function.result_is_size) result = trim(result.substr(kSize.size()));
        function.result = of_type("result", result);
        if (!function.result) return fail("{}: the result in '{}' has an unknown type", name, text);
    }
    auto rest = trim(text.substr(0, arrow));
    while (!rest.empty()) {
        const auto comma = rest.find(',');
        if (auto added = add_parameter(function, trim(rest.substr(0, comma))); !added)
            return tl::unexpected(added.error());
        rest = comma == std::string_view::npos ? std::string_view{} : trim(rest.substr(comma + 1));
    }
    return function;
}

WordValue value_of(ValueKind kind, unsigned size, std::uint64_t word) {
    constexpr unsigned kBits = 64;
    const unsigned unused = size > 0 && size < sizeof word ? kBits - 8U * size : 0;
    const std::uint64_t used = word << unused >> unused;
    switch (kind) {
        case ValueKind::signed_integer:
        case ValueKind::enumeration:
            return std::bit_cast<std::int64_t>(word << unused) >> unused;
        case ValueKind::boolean:
            return used != 0;
        case ValueKind::floating:
            if (size == sizeof(float)) return std::bit_cast<float>(static_cast<std::uint32_t>(word));
            return std::bit_cast<double>(word);
        case ValueKind::pointer:
        case ValueKind::unsigned_integer:
            break;
    }
    return used;
}

}  // namespace rdam
