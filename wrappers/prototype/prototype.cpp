#include "wrappers/prototype/prototype.h"

#include <algorithm>

namespace rdam {

PassedAs passed_as(ValueKind kind) {
    return kind == ValueKind::floating ? PassedAs{.vector_registers = 1} : PassedAs{.integer_registers = 1};
}

Prototype prototype_of(const CatalogueFunction& function) {
    Prototype prototype;
    prototype.variadic = function.variadic;
    for (const CatalogueParameter& parameter : function.parameters) {
        prototype.parameters.push_back(
            {parameter.name, {}, passed_as(parameter.kind), ScalarType{parameter.kind, parameter.size}});
    }
    if (function.result) {
        prototype.result.where = function.result->kind == ValueKind::floating ? PrototypeResult::Where::xmm0
                                                                              : PrototypeResult::Where::rax;
        prototype.result.scalar = ScalarType{function.result->kind, function.result->size};
    }
    return prototype;
}

namespace {

constexpr std::uint32_t kIntegerRegisters = 6;
constexpr std::uint32_t kVectorRegisters = 8;
constexpr std::uint64_t kStackAlignment = 16;

}  // namespace

ArgumentPlace ArgumentAllocator::place(const PassedAs& value) {
    using Kind = ArgumentPlace::Kind;
    if (value.where == PassedAs::Class::nothing) return {};
    const bool fits = integer_used_ + value.integer_registers <= kIntegerRegisters &&
                      vector_used_ + value.vector_registers <= kVectorRegisters;
    if (value.where == PassedAs::Class::registers && fits) {
        ArgumentPlace place;
        if (value.vector_registers == 0) {
            place = {Kind::integer_register, integer_used_};
        } else if (value.integer_registers == 0) {
            place = {Kind::vector_register, vector_used_};
        } else {
            place = {Kind::mixed_registers, integer_used_};
        }
        integer_used_ += value.integer_registers;
        vector_used_ += value.vector_registers;
        return place;
    }
    const std::uint64_t alignment = std::max<std::uint64_t>(value.alignment, 8);
    over_aligned_ = over_aligned_ || alignment > kStackAlignment;
    stack_ = (stack_ + alignment - 1) / alignment * alignment;
    const ArgumentPlace place{Kind::stack, static_cast<std::uint32_t>(stack_)};
    stack_ += (value.size + 7) / 8 * 8;
    return place;
}

}  // namespace rdam
