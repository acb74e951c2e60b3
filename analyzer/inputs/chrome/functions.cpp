#include "analyzer/inputs/chrome/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

namespace rdam::inputs::chrome {
namespace {

std::uint32_t bit_of(ValueType type) {
    return 1U << static_cast<unsigned>(type);
}

bool is_below_zero(const Value& value) {
    if (value.type == ValueType::integer) return static_cast<std::int64_t>(value.bits) < 0;
    return value.type == ValueType::floating && std::bit_cast<double>(value.bits) < 0;
}

/// One kind for all the types that occurred.
ValueKind kind_for(std::uint32_t types) {
    const auto has = [types](ValueType type) { return (types & bit_of(type)) != 0; };
    if (has(ValueType::text)) return ValueKind::enumeration;
    if (has(ValueType::floating)) return ValueKind::floating;
    if (has(ValueType::large)) {
        const bool has_negative = (types & Function::kNegative) != 0;
        return has_negative ? ValueKind::floating : ValueKind::unsigned_integer;
    }
    return types == bit_of(ValueType::boolean) ? ValueKind::boolean : ValueKind::signed_integer;
}

double as_double(const Value& value) {
    if (value.type == ValueType::floating) return std::bit_cast<double>(value.bits);
    if (value.type == ValueType::integer) return static_cast<double>(static_cast<std::int64_t>(value.bits));
    return static_cast<double>(value.bits);
}

std::string as_text(const Value& value) {
    if (value.type == ValueType::boolean) return value.bits != 0 ? "true" : "false";
    if (value.type == ValueType::floating) return fmt::format("{}", std::bit_cast<double>(value.bits));
    if (value.type == ValueType::integer) return fmt::format("{}", static_cast<std::int64_t>(value.bits));
    return fmt::format("{}", value.bits);
}

}  // namespace

Functions::Functions(Collected& collected, TraceBuilder& builder) : collected_(collected), builder_(builder) {
    functions_.resize(collected.functions.size());
    for (const Thread& thread : collected.threads)
        for (const Call& call : thread.calls)
            learn(call);
    for (std::uint32_t function = 0; function < functions_.size(); ++function)
        if (functions_[function].called) add(function);
}

void Functions::learn(const Call& call) {
    functions_[call.function].called = true;
    if (call.values == kNoValues) return;
    std::vector<Function::Parameter>& known = collected_.functions[call.function].parameters;
    for (std::uint32_t at = call.values;; ++at) {
        const Value& value = collected_.values[at];
        auto found = std::ranges::find(known, value.name, &Function::Parameter::name);
        if (found == known.end() && known.size() < Function::kMostParameters)
            found = known.insert(known.end(), {.name = value.name});
        if (found == known.end())
            ++collected_.values_left_out;
        else
            found->types |= bit_of(value.type) | (is_below_zero(value) ? Function::kNegative : 0);
        if (value.last) break;
    }
}

void Functions::add(std::uint32_t function) {
    const Function& from = collected_.functions[function];
    Known& known = functions_[function];
    trace::FunctionInfo info;
    info.name = info.linkage_name = collected_.names.text(from.name);
    info.module = collected_.names.text(from.category);
    info.object = builder_.object(info.module);
    for (const Function::Parameter& each : from.parameters) {
        const Parameter described{.name = each.name,
                                  .kind = kind_for(each.types),
                                  .is_text = (each.types & bit_of(ValueType::text)) != 0};
        const std::string& name = collected_.names.text(each.name);
        known.parameters.push_back(described);
        info.parameters.push_back(described.is_text ? text_parameter(name)
                                                    : parameter(name, described.kind, ""));
    }
    known.number = builder_.add_function(std::move(info));
}

std::uint64_t Functions::word(const Value& value, const Parameter& parameter) {
    if (parameter.is_text) return value.type == ValueType::text ? value.bits : builder_.text(as_text(value));
    return parameter.kind == ValueKind::floating ? put_value(as_double(value)) : value.bits;
}

std::span<const std::uint64_t> Functions::words_of(const Call& call) {
    const std::vector<Parameter>& parameters = functions_[call.function].parameters;
    words_.assign(parameters.size(), 0);
    if (call.values == kNoValues) return words_;
    for (std::uint32_t at = call.values;; ++at) {
        const Value& value = collected_.values[at];
        const auto found = std::ranges::find(parameters, value.name, &Parameter::name);
        if (found != parameters.end())
            words_[static_cast<std::size_t>(found - parameters.begin())] = word(value, *found);
        if (value.last) break;
    }
    return words_;
}

}  // namespace rdam::inputs::chrome
