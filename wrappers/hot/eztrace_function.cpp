#include "wrappers/hot/eztrace_function.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace rdam {
namespace {

bool is_c_name(std::string_view name) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !name.empty() && is_letter(name.front()) && std::all_of(name.begin(), name.end(), [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9');
    });
}

/// Text of a program inside of quotation marks, on one line.
std::string in_quotes(std::string_view name) {
    std::string quoted = "\"";
    for (const char c : name) {
        const bool plain = c > ' ' && c <= '~' && c != '"' && c != '\\' && c != '@';
        quoted += plain ? c : '_';
    }
    return quoted + "\"";
}

/// How a value is written in C, and in OTF2.
struct Spelling {
    std::string type;    ///< "int32_t"
    std::string otf2;    ///< "INT32", of OTF2_TYPE_INT32
    std::string member;  ///< of OTF2_AttributeValue
};

Spelling spelling_of(const ScalarType& scalar) {
    const int bits = scalar.size * 8;
    switch (scalar.kind) {
        case ValueKind::pointer:
            return {"void*", "UINT64", "uint64"};
        case ValueKind::boolean:
            return {scalar.size == 1 ? "_Bool" : fmt::format("uint{}_t", bits), fmt::format("UINT{}", bits),
                    fmt::format("uint{}", bits)};
        case ValueKind::floating:
            return scalar.size == 4 ? Spelling{"float", "FLOAT", "float32"}
                                    : Spelling{"double", "DOUBLE", "float64"};
        case ValueKind::signed_integer:
        case ValueKind::enumeration:
            return {fmt::format("int{}_t", bits), fmt::format("INT{}", bits), fmt::format("int{}", bits)};
        case ValueKind::unsigned_integer:
            break;
    }
    return {fmt::format("uint{}_t", bits), fmt::format("UINT{}", bits), fmt::format("uint{}", bits)};
}

/// The type that travels like a parameter of a kind that is not recorded; nothing: there is none so simple.
std::optional<std::string> stand_in(const PassedAs& passed) {
    if (passed.where != PassedAs::Class::registers) return std::nullopt;
    if (passed.integer_registers == 1 && passed.vector_registers == 0) return "uint64_t";
    if (passed.integer_registers == 0 && passed.vector_registers == 1 && passed.size <= 8) return "double";
    return std::nullopt;
}

/// eztrace_create_plugin takes each type with "void" in it for one without a value.
Result<std::string> result_type(const PrototypeResult& result) {
    using Where = PrototypeResult::Where;
    if (result.where == Where::hidden_pointer) return "uintptr_t";
    if (result.where == Where::nowhere && (result.type.empty() || result.type == "void")) return "void";
    if (result.where == Where::nowhere || !result.scalar)
        return fail("returns {} by value, which a plug-in cannot pass on", result.type);
    return result.scalar->kind == ValueKind::pointer ? "uintptr_t" : spelling_of(*result.scalar).type;
}

}  // namespace

Result<PluginFunction> plugin_function(const std::string& linkage_name, const Prototype& prototype,
                                       bool declared) {
    if (!is_c_name(linkage_name)) return fail("its name cannot be written in C");
    if (!prototype.doubt.empty()) return fail("what it takes is not certain: {}", prototype.doubt);
    if (prototype.variadic) return fail("takes a variable number of arguments");
    const auto returned = result_type(prototype.result);
    if (!returned) return tl::unexpected{returned.error()};
    std::vector<std::string> arguments;
    if (prototype.result.where == PrototypeResult::Where::hidden_pointer)
        arguments.emplace_back("void* result");
    std::string parameters;
    std::string values;
    for (std::size_t index = 0; index < prototype.parameters.size(); ++index) {
        const PrototypeParameter& parameter = prototype.parameters[index];
        const std::string argument = fmt::format("a{}", index + 1);
        const std::string name = parameter.name.empty() ? fmt::format("arg{}", index) : parameter.name;
        if (!parameter.scalar) {
            const auto type = stand_in(parameter.passed);
            if (!type) return fail("takes {} by value ({})", parameter.type, name);
            arguments.push_back(fmt::format("{} {}", *type, argument));
            continue;
        }
        const Spelling spelling = spelling_of(*parameter.scalar);
        const bool pointer = parameter.scalar->kind == ValueKind::pointer;
        arguments.push_back(fmt::format("{} {}", spelling.type, argument));
        parameters += fmt::format("{{{}, OTF2_TYPE_{}}}, ", in_quotes(name), spelling.otf2);
        values += fmt::format("{{.{} = {}{}}}, ", spelling.member, pointer ? "(uintptr_t)" : "", argument);
    }
    PluginFunction function;
    function.prototype = fmt::format("{} {}({})", *returned, linkage_name, fmt::join(arguments, ", "));
    function.definitions = fmt::format("#define RDAM_PARAMETERS_lib{0} {1}\n#define RDAM_VALUES_lib{0} {2}\n",
                                       linkage_name, parameters, values);
    if (declared) {
        function.definitions += fmt::format("{0} rdam_{1}({2}) __asm__(\"{1}\");\n#define {1} rdam_{1}\n",
                                            *returned, linkage_name, fmt::join(arguments, ", "));
    }
    return function;
}

}  // namespace rdam
