#include "wrappers/prototype/type_copying.h"

#include <dwarf.h>

#include <string_view>

#include "wrappers/prototype/type_text.h"

namespace rdam {
namespace {

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
    switch (dwarf_srclang(&unit)) {
        case DW_LANG_C89:
        case DW_LANG_C:
        case DW_LANG_C99:
        case DW_LANG_C11:
            source.is_c = true;
            break;
        default:
            break;
    }
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

Copying judge(const PeeledType& type, int depth);

/// The strictest answer of the bases and data members; a table of virtual functions makes copying
/// non-trivial.
Copying judge_member(Dwarf_Die member, int depth) {
    if (has(member, DW_AT_external) || has(member, DW_AT_declaration)) return Copying::bitwise;
    if (dwarf_tag(&member) == DW_TAG_inheritance && has(member, DW_AT_virtuality))
        return Copying::by_constructor;
    if (has(member, DW_AT_artificial) && name_of(member).starts_with("_vptr")) return Copying::by_constructor;
    Dwarf_Die die;
    auto type = type_of(member, die) ? peel(die) : std::nullopt;
    while (type && type->tag == DW_TAG_array_type)
        type = type_of(type->die, die) ? peel(die) : std::nullopt;
    return type ? judge(*type, depth + 1) : Copying::unknown;
}

Copying judge(const PeeledType& type, int depth) {
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
            const Copying copying = judge_member(child, depth);
            if (copying == Copying::by_constructor) return copying;
            if (copying == Copying::unknown) strictest = copying;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
    // Constrained members (C++20) may be declared several times, and only one of them counts.
    if (members.uncertain || (members.provided && members.kept)) return Copying::unknown;
    if (members.provided || (members.deleted && !members.kept)) return Copying::by_constructor;
    return strictest;
}

}  // namespace

Copying copying_of(const PeeledType& type) {
    return judge(type, 0);
}

}  // namespace rdam
