#include "wrappers/prototype/type_layout.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "wrappers/prototype/type_walk.h"

namespace rdam {
namespace {

// How values of a class are copied, which decides how they are passed.

enum class Copying : std::uint8_t {
    bitwise,         ///< handed over like a C structure
    by_constructor,  ///< "non-trivial for the purposes of calls" (Itanium C++ ABI 1.1): handed over by
                     ///< address
    unknown,         ///< the debug information does not say
};

constexpr int kDeepestMember = 16;

bool is_aggregate(int tag) {
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool has(Dwarf_Die die, unsigned attribute) {
    return dwarf_hasattr_integrate(&die, attribute) != 0;
}

std::string_view name_of(Dwarf_Die die) {
    const char* name = dwarf_diename(&die);
    return name == nullptr ? std::string_view{} : std::string_view{name};
}

struct Source {
    bool is_c = false;
    bool tells_defaulted =
        false;  ///< DWARF 5 marks `= default`; before, it looks like a function with a body
};

Source source_of(Dwarf_Die die) {
    Source source;
    Dwarf_Die unit;
    if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return source;
    source.is_c = is_c(dwarf_srclang(&unit));
    Dwarf_Half version = 0;
    if (dwarf_cu_info(unit.cu, &version, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) == 0) {
        source.tells_defaulted = version >= 5;
    }
    return source;
}

/// What was declared among the functions that copy, move or destroy.
struct SpecialMembers {
    bool kept = false;      ///< a copy or move constructor that can be used and is bitwise
    bool deleted = false;   ///< a copy or move constructor that cannot be used
    bool provided = false;  ///< a copy or move constructor or destructor with a body of its own
    bool uncertain = false;
};

/// Whether a parameter is a reference to the class itself.
bool refers_to(Dwarf_Die parameter, Dwarf_Die owner) {
    Dwarf_Die type;
    if (!type_of(parameter, type)) return false;
    const auto reference = peel(type);
    if (!reference) return false;
    if (reference->tag != DW_TAG_reference_type && reference->tag != DW_TAG_rvalue_reference_type)
        return false;
    Dwarf_Die target;
    const auto referred = type_of(reference->die, target) ? peel(target) : std::nullopt;
    return referred && referred->die.addr == owner.addr;
}

enum class Role : std::uint8_t { other, copies, may_copy, destroys };

Role role_of(Dwarf_Die function, Dwarf_Die owner) {
    const std::string_view name = name_of(function);
    const std::string_view class_name = name_of(owner).substr(0, name_of(owner).find('<'));
    if (name.starts_with('~')) return Role::destroys;
    if (class_name.empty() || name.substr(0, name.find('<')) != class_name) return Role::other;
    int parameters = 0;
    bool self = false;
    Dwarf_Die child;
    if (dwarf_child(&function, &child) != 0) return Role::other;
    do {
        if (dwarf_tag(&child) != DW_TAG_formal_parameter || has(child, DW_AT_artificial)) continue;
        if (++parameters == 1) self = refers_to(child, owner);
    } while (dwarf_siblingof(&child, &child) == 0);
    if (!self) return Role::other;
    return parameters == 1 ? Role::copies : Role::may_copy;
}

void note_function(Dwarf_Die function, Dwarf_Die owner, const Source& source, SpecialMembers& members) {
    // Implicit ones follow from bases and members, which are looked at on their own.
    if (has(function, DW_AT_artificial)) return;
    const Role role = role_of(function, owner);
    if (role == Role::other) return;
    const auto defaulted = unsigned_attribute(function, DW_AT_defaulted).value_or(DW_DEFAULTED_no);
    if (has(function, DW_AT_deleted)) {
        members.deleted = members.deleted || role == Role::copies;
    } else if (role == Role::may_copy || !source.tells_defaulted) {
        // A second parameter may have a default value, which DWARF does not record.
        members.uncertain = true;
    } else if (defaulted != DW_DEFAULTED_in_class) {
        members.provided = true;
    } else if (role == Role::copies) {
        members.kept = true;
    }
}

Copying copying_of(const PeeledType& type, int depth);

/// The strictest answer of the bases and data members; a table of virtual functions makes copying
/// non-trivial.
Copying copying_of_member(Dwarf_Die member, int depth) {
    if (has(member, DW_AT_external) || has(member, DW_AT_declaration)) return Copying::bitwise;
    if (dwarf_tag(&member) == DW_TAG_inheritance && has(member, DW_AT_virtuality))
        return Copying::by_constructor;
    if (has(member, DW_AT_artificial) && name_of(member).starts_with("_vptr")) return Copying::by_constructor;
    Dwarf_Die die;
    auto type = type_of(member, die) ? peel(die) : std::nullopt;
    while (type && type->tag == DW_TAG_array_type)
        type = type_of(type->die, die) ? peel(die) : std::nullopt;
    return type ? copying_of(*type, depth + 1) : Copying::unknown;
}

Copying copying_of(const PeeledType& type, int depth) {
    if (!is_aggregate(type.tag)) return Copying::bitwise;
    switch (unsigned_attribute(type.die, DW_AT_calling_convention).value_or(0)) {
        case DW_CC_pass_by_reference:
            return Copying::by_constructor;
        case DW_CC_pass_by_value:
            return Copying::bitwise;
        default:
            break;
    }
    const Source source = source_of(type.die);
    if (source.is_c) return Copying::bitwise;
    Dwarf_Die owner = type.die;
    if (depth > kDeepestMember || has(owner, DW_AT_declaration)) return Copying::unknown;
    Dwarf_Die child;
    if (dwarf_child(&owner, &child) != 0) return Copying::bitwise;
    SpecialMembers members;
    Copying strictest = Copying::bitwise;
    do {
        const int tag = dwarf_tag(&child);
        if (tag == DW_TAG_subprogram) {
            note_function(child, owner, source, members);
        } else if (tag == DW_TAG_member || tag == DW_TAG_inheritance) {
            const Copying copying = copying_of_member(child, depth);
            if (copying == Copying::by_constructor) return copying;
            if (copying == Copying::unknown) strictest = copying;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
    // Constrained members (C++20) may be declared several times, and only one of them counts.
    if (members.uncertain || (members.provided && members.kept)) return Copying::unknown;
    if (members.provided || (members.deleted && !members.kept)) return Copying::by_constructor;
    return strictest;
}

/// clang says it outright (DW_AT_calling_convention); from gcc's output it follows from the special member
/// functions that were declared, their DW_AT_defaulted and DW_AT_deleted, virtual functions, and the bases
/// and members.
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
        return std::ranges::any_of(classes,
                                   [&](EightbyteClass c) { return std::ranges::find(set, c) != set.end(); });
    };
    if (is_in({memory, x87, x87_up, complex_x87})) {
        passed.where = PassedAs::Class::memory;
        return passed;
    }
    passed.integer_registers = static_cast<std::uint8_t>(std::ranges::count(classes, integer));
    passed.vector_registers = static_cast<std::uint8_t>(std::ranges::count(classes, sse));
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
    const Copying copying = copying_of(*type, 0);
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
