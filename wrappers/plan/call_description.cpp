#include "wrappers/plan/call_description.h"

#include <algorithm>

namespace rdam {
namespace {

/// A scalar argument and the place it travels in.
struct PlacedScalar {
    std::size_t index = 0;  // among all parameters
    PrototypeParameter parameter;
    ArgumentPlace place;
};

void count_word(const ArgumentPlace& place, plan::Recording& recording) {
    const auto needed = static_cast<std::uint8_t>(place.index + 1);
    switch (place.kind) {
        case ArgumentPlace::Kind::integer_register:
            recording.integer_registers = std::max(recording.integer_registers, needed);
            break;
        case ArgumentPlace::Kind::vector_register:
            recording.vector_registers = std::max(recording.vector_registers, needed);
            break;
        case ArgumentPlace::Kind::stack:
            recording.stack_words =
                std::max(recording.stack_words, static_cast<std::uint8_t>(place.index / 8 + 1));
            break;
        default:
            break;
    }
}

std::uint16_t word_of(const ArgumentPlace& place, const plan::Recording& recording) {
    std::uint32_t word = place.index;
    if (place.kind == ArgumentPlace::Kind::vector_register) word += recording.integer_registers;
    if (place.kind == ArgumentPlace::Kind::stack) {
        word = recording.integer_registers + recording.vector_registers + place.index / 8;
    }
    return static_cast<std::uint16_t>(word);
}

bool can_be_recorded(const PrototypeParameter& parameter, const ArgumentPlace& place) {
    using Kind = ArgumentPlace::Kind;
    if (!parameter.scalar || parameter.unproven) return false;
    if (place.kind == Kind::stack) return place.index / 8 < plan::kMaxStackWords;
    return place.kind == Kind::integer_register || place.kind == Kind::vector_register;
}

Parameter describe(const PrototypeParameter& parameter, std::size_t index, std::uint16_t word,
                   const DefaultKeys& keys) {
    Parameter result;
    result.name = parameter.name.empty() ? fmt::format("arg{}", index) : parameter.name;
    result.kind = parameter.scalar->kind;
    result.size = parameter.scalar->size;
    result.word = word;
    const auto among = [&](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), parameter.name) != names.end();
    };
    result.key = among(keys.names);
    result.by_size = among(keys.sizes);
    result.type = parameter.type;
    return result;
}

void describe_parameters(const std::vector<PlacedScalar>& scalars, const DefaultKeys& keys,
                         CallDescription& call) {
    for (const PlacedScalar& scalar : scalars)
        count_word(scalar.place, call.recording);
    for (const PlacedScalar& scalar : scalars) {
        call.parameters.push_back(
            describe(scalar.parameter, scalar.index, word_of(scalar.place, call.recording), keys));
    }
}

void describe_result(const PrototypeResult& result, const DefaultKeys& keys, CallDescription& call) {
    if (!result.scalar) return;
    if (result.where == PrototypeResult::Where::rax) call.recording.return_value = plan::ReturnValue::rax;
    if (result.where == PrototypeResult::Where::xmm0) call.recording.return_value = plan::ReturnValue::xmm0;
    if (call.recording.return_value == plan::ReturnValue::none) return;
    call.result = Parameter{.name = "return",
                            .kind = result.scalar->kind,
                            .size = result.scalar->size,
                            .word = 0,
                            .key = keys.result_is_size,
                            .type = result.type,
                            .by_size = keys.result_is_size};
}

}  // namespace

DefaultKeys DefaultKeys::of(const CatalogueFunction& known, bool result) {
    return {known.keys, known.sizes, result && known.result_is_size};
}

CallDescription describe_call(const Prototype& prototype, const DefaultKeys& keys, bool record_arguments) {
    CallDescription call;
    if (!prototype.doubt.empty()) return call;
    ArgumentAllocator allocator;
    if (prototype.result.where == PrototypeResult::Where::hidden_pointer) {
        PassedAs pointer;
        pointer.integer_registers = 1;
        allocator.place(pointer);
    }
    std::vector<PlacedScalar> scalars;
    for (std::size_t index = 0; index < prototype.parameters.size(); ++index) {
        const ArgumentPlace place = allocator.place(prototype.parameters[index].passed);
        if (can_be_recorded(prototype.parameters[index], place))
            scalars.push_back({index, prototype.parameters[index], place});
    }
    const bool exact = !prototype.variadic && !prototype.stack_unproven && !allocator.over_aligned() &&
                       allocator.stack_bytes() <= plan::kMaxStackBytes;
    if (exact) {
        call.frame = plan::Frame::stack;
        call.stack_bytes = static_cast<std::uint32_t>(allocator.stack_bytes());
    }
    if (!record_arguments) return call;
    describe_parameters(scalars, keys, call);
    describe_result(prototype.result, keys, call);
    return call;
}

CallDescription describe_values(const FunctionClaims& claims, const ProvenValues& proven,
                                const DefaultKeys& keys, bool record_arguments) {
    CallDescription call;
    if (!record_arguments) return call;
    std::vector<PlacedScalar> scalars;
    for (const ProvenValue& value : proven.values) {
        const ParameterClaim& claim = claims.parameters[value.parameter];
        PrototypeParameter parameter;
        parameter.name = claim.name;
        parameter.type = claim.type;
        parameter.scalar = claim.scalar;
        if (can_be_recorded(parameter, value.place))
            scalars.push_back({value.parameter, std::move(parameter), value.place});
    }
    describe_parameters(scalars, keys, call);
    return call;
}

}  // namespace rdam
