#include "wrappers/plan/call_description.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

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
        return std::ranges::find(names, parameter.name) != names.end();
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
    ArgumentAllocator allocator{prototype.result.where == PrototypeResult::Where::hidden_pointer};
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

namespace {

using Where = ParameterClaim::Where;
using Signature = FunctionClaims::Signature;

constexpr std::size_t kMaxNamed = 8;

/// What is known of one parameter.
struct Finding {
    std::vector<ArgumentPlace> arguments;  // of a structure in parts, all of them
    std::optional<ArgumentPlace> expected;
    bool changed = false;
    std::string why_not;

    std::optional<ArgumentPlace> argument() const {
        return arguments.size() == 1 ? std::optional{arguments.front()} : std::nullopt;
    }
    void refuse(const char* why) {
        if (why_not.empty()) why_not = why;
    }
};

Finding find(const ParameterClaim& claim, const std::optional<Arrival>& arrival, const EntryBlock& code) {
    Finding finding;
    switch (claim.where) {
        case Where::nowhere:
            finding.refuse("its place at the entry is not described");
            break;
        case Where::at_entry:
            for (const unsigned reg : claim.registers) {
                if (const auto argument = argument_register(reg)) finding.arguments.push_back(*argument);
            }
            if (finding.arguments.empty()) finding.refuse("in a register in which nothing is passed");
            break;
        case Where::somewhere:
            if (const auto kept = code.kept_in(claim.registers.front(), claim.bytes.size)) {
                finding.arguments = {*kept};
            } else {
                finding.refuse("where its register comes from is not seen in the code");
            }
            break;
        case Where::in_frame:
            if (arrival) {
                finding.arguments = {arrival->passed};
                finding.changed = arrival->changed;
            } else {
                finding.refuse("how it comes into the frame is not seen in the code");
            }
            break;
    }
    return finding;
}

/// Adds the place where each parameter is expected, as far as the parameters before it are known.
void expect(const FunctionClaims& claims, std::vector<Finding>& findings) {
    if (!claims.hidden_result) return;
    ArgumentAllocator allocator{*claims.hidden_result};
    for (std::size_t index = 0; index < findings.size(); ++index) {
        if (!claims.parameters[index].passed) return;
        const ArgumentPlace place = allocator.place(*claims.parameters[index].passed);
        if (place.kind != ArgumentPlace::Kind::nowhere && place.kind != ArgumentPlace::Kind::mixed_registers)
            findings[index].expected = place;
    }
}

/// A different argument in the place of each, in the order in which they are written.
bool is_not_optimized(const std::vector<ParameterClaim>& claims, const std::vector<Finding>& findings) {
    std::map<ArgumentPlace::Kind, std::uint32_t> next;
    for (std::size_t index = 0; index < claims.size(); ++index) {
        if (claims[index].where != Where::in_frame || !claims[index].for_life) return false;
        if (!claims[index].scalar) continue;
        const auto argument = findings[index].argument();
        if (!argument || argument->index < next[argument->kind]) return false;
        next[argument->kind] = argument->index + 1;
    }
    return true;
}

/// Each is where the convention has it.
bool is_complete(const std::vector<ParameterClaim>& claims, const std::vector<Finding>& findings) {
    for (std::size_t index = 0; index < claims.size(); ++index) {
        if (!claims[index].scalar || !findings[index].expected ||
            findings[index].argument() != findings[index].expected)
            return false;
    }
    return true;
}

bool share_an_argument(const Finding& one, const Finding& other) {
    return std::ranges::any_of(one.arguments, [&](const ArgumentPlace& argument) {
        return std::ranges::find(other.arguments, argument) != other.arguments.end();
    });
}

bool is_of_another_kind(const ScalarType& scalar, const ArgumentPlace& argument) {
    const bool vector = argument.kind == ArgumentPlace::Kind::vector_register;
    return argument.kind != ArgumentPlace::Kind::stack && vector != (scalar.kind == ValueKind::floating);
}

/// By the position, where the code is optimized.
void compare_with_convention(const FunctionClaims& claims, std::vector<Finding>& findings) {
    const bool complete = is_complete(claims.parameters, findings);
    // Where one is elsewhere, something hidden may have been passed before the others.
    const bool contradicted = std::ranges::any_of(findings, [](const Finding& finding) {
        return finding.argument() && finding.expected && finding.argument() != finding.expected;
    });
    for (std::size_t index = 0; index < findings.size(); ++index) {
        Finding& finding = findings[index];
        const ParameterClaim& claim = claims.parameters[index];
        const bool on_stack = finding.argument() && finding.argument()->kind == ArgumentPlace::Kind::stack;
        if (on_stack && claim.where == Where::in_frame && claim.for_life) continue;
        if (claims.signature == Signature::changed || (claims.signature == Signature::unknown && !complete))
            finding.refuse("the compiler may have dropped others");
        if (contradicted)
            finding.refuse("the parameters are not where the usual calling convention puts them");
        if (!finding.expected) finding.refuse("what is passed before it is not known");
    }
}

}  // namespace

ProvenValues proven_values(const FunctionClaims& claims, const EntryBlock& code) {
    const std::vector<ParameterClaim>& parameters = claims.parameters;
    std::vector<FrameBytes> places;
    places.reserve(parameters.size());
    for (const ParameterClaim& claim : parameters)
        places.push_back(claim.where == Where::in_frame ? claim.bytes : FrameBytes{});
    const auto arrivals = code.arrivals(places);
    std::vector<Finding> findings;
    for (std::size_t index = 0; index < parameters.size(); ++index)
        findings.push_back(find(parameters[index], arrivals[index], code));
    expect(claims, findings);
    if (!is_not_optimized(parameters, findings)) compare_with_convention(claims, findings);

    ProvenValues proven;
    for (std::size_t index = 0; index < parameters.size(); ++index) {
        Finding& finding = findings[index];
        if (!parameters[index].scalar) {
            finding.why_not = "not a single value";
        } else if (finding.argument()) {
            if (finding.changed) finding.refuse("only a part of it is kept");
            if (is_of_another_kind(*parameters[index].scalar, *finding.argument()))
                finding.refuse("in a register for values of another kind");
            for (std::size_t other = 0; other < parameters.size(); ++other) {
                if (other != index && share_an_argument(finding, findings[other]))
                    finding.refuse("another parameter is in the same place");
            }
        }
        if (finding.why_not.empty() && finding.argument()) {
            proven.values.push_back({index, *finding.argument()});
        } else {
            const std::string name =
                parameters[index].name.empty() ? fmt::format("arg{}", index) : parameters[index].name;
            proven.missing.push_back(fmt::format("{} ({})", name, finding.why_not));
        }
    }
    return proven;
}

std::string unproven_text(const ProvenValues& proven, const std::string& doubt) {
    if (proven.missing.empty()) return {};
    std::vector<std::string> named = proven.missing;
    if (named.size() > kMaxNamed) {
        named.resize(kMaxNamed);
        named.emplace_back("...");
    }
    if (proven.values.empty())
        return fmt::format("no parameters: {}, and nothing else proves {}", doubt, fmt::join(named, ", "));
    return fmt::format("without {}", fmt::join(named, ", "));
}

}  // namespace rdam
