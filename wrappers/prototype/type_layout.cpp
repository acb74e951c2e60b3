#include "wrappers/prototype/type_layout.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>

#include "wrappers/prototype/type_copying.h"
#include "wrappers/prototype/type_text.h"
#include "wrappers/prototype/type_walk.h"

namespace rdam {
namespace {

std::optional<ScalarType> scalar_of(const PeeledType& type) {
    ScalarType scalar;
    if (type.size == 0 || type.size > 8) return std::nullopt;
    scalar.size = static_cast<std::uint8_t>(type.size);
    switch (type.tag) {
        case DW_TAG_pointer_type:
        case DW_TAG_reference_type:
        case DW_TAG_rvalue_reference_type:
        case DW_TAG_unspecified_type:
        case DW_TAG_ptr_to_member_type:
            scalar.kind = ValueKind::pointer;
            return scalar;
        case DW_TAG_enumeration_type:
            scalar.kind = ValueKind::enumeration;
            return scalar;
        case DW_TAG_base_type:
            break;
        default:
            return std::nullopt;
    }
    switch (unsigned_attribute(type.die, DW_AT_encoding).value_or(0)) {
        case DW_ATE_boolean:
            scalar.kind = ValueKind::boolean;
            return scalar;
        case DW_ATE_signed:
        case DW_ATE_signed_char:
            scalar.kind = ValueKind::signed_integer;
            return scalar;
        case DW_ATE_unsigned:
        case DW_ATE_unsigned_char:
        case DW_ATE_UTF:
        case DW_ATE_address:
            scalar.kind = ValueKind::unsigned_integer;
            return scalar;
        case DW_ATE_float:
            scalar.kind = ValueKind::floating;
            return type.size >= 4 ? std::optional{scalar} : std::nullopt;
        default:
            return std::nullopt;
    }
}

PassedAs passed_as(const Classification& value) {
    using enum EightbyteClass;
    PassedAs passed;
    passed.size = value.size;
    passed.alignment = std::max<std::uint64_t>(value.alignment, 8);
    const auto& classes = value.classes;
    const auto is_in = [&](std::initializer_list<EightbyteClass> set) {
        return std::any_of(classes.begin(), classes.end(), [&](EightbyteClass c) {
            return std::find(set.begin(), set.end(), c) != set.end();
        });
    };
    if (is_in({memory, x87, x87_up, complex_x87})) {
        passed.where = PassedAs::Class::memory;
        return passed;
    }
    passed.integer_registers = static_cast<std::uint8_t>(std::count(classes.begin(), classes.end(), integer));
    passed.vector_registers = static_cast<std::uint8_t>(std::count(classes.begin(), classes.end(), sse));
    if (passed.integer_registers + passed.vector_registers == 0) passed.where = PassedAs::Class::nothing;
    return passed;
}

PrototypeResult::Where returned_in(const Classification& value, const std::optional<ScalarType>& scalar) {
    using Where = PrototypeResult::Where;
    if (value.classes[0] == EightbyteClass::memory) return Where::hidden_pointer;
    if (!scalar) return Where::nowhere;
    return scalar->kind == ValueKind::floating ? Where::xmm0 : Where::rax;
}

}  // namespace

TypeLayout layout_of(Dwarf_Die type_die) {
    TypeLayout layout;
    const auto type = peel(type_die);
    if (!type) {
        layout.doubt = "a type that cannot be read";
        return layout;
    }
    const Copying copying = copying_of(*type);
    if (copying == Copying::unknown) {
        layout.doubt =
            fmt::format("class {}, whose way of being copied is not described", type_text(type->die));
        return layout;
    }
    if (copying == Copying::by_constructor) {
        layout.passed.integer_registers = 1;
        layout.returned = PrototypeResult::Where::hidden_pointer;
        return layout;
    }
    Dwarf_Die bare = type->die;
    if (type->tag == DW_TAG_array_type && dwarf_hasattr(&bare, DW_AT_GNU_vector) == 0) {
        layout.doubt = "an array as parameter";
        return layout;
    }
    const Classification value = classify(*type);
    layout.doubt = value.doubt;
    layout.passed = passed_as(value);
    layout.scalar = scalar_of(*type);
    layout.returned = returned_in(value, layout.scalar);
    layout.is_wide_integer = type->tag == DW_TAG_base_type && layout.passed.integer_registers == 2;
    // An empty class is not passed at all; nothing but padding is where compilers part.
    if (layout.doubt.empty() && layout.passed.where == PassedAs::Class::nothing && type->size > 1) {
        layout.doubt = fmt::format("{}, which is nothing but padding", type_text(type->die));
    }
    return layout;
}

}  // namespace rdam
