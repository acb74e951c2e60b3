#include "wrappers/prototype/type_text.h"

#include <dwarf.h>

#include <string_view>

namespace rdam {
namespace {

constexpr int kDeepestText = 16;
constexpr std::size_t kLongestText = 200;

std::string text_of(Dwarf_Die type, int depth);

std::string pointee_text(Dwarf_Die type, int depth) {
    Dwarf_Die target;
    return type_of(type, target) ? text_of(target, depth + 1) : "void";
}

/// C writes `char* const`, but `const char` for types that are not pointers.
std::string qualified(std::string_view qualifier, const std::string& text) {
    if (!text.empty() && (text.back() == '*' || text.back() == '&'))
        return text + " " + std::string{qualifier};
    return std::string{qualifier} + " " + text;
}

std::string named(Dwarf_Die type, std::string_view otherwise) {
    const char* name = dwarf_diename(&type);
    return name == nullptr ? std::string{otherwise} : std::string{name};
}

std::string text_of(Dwarf_Die type, int depth) {
    if (depth > kDeepestText) return "?";
    switch (dwarf_tag(&type)) {
        case DW_TAG_pointer_type:
            return pointee_text(type, depth) + "*";
        case DW_TAG_reference_type:
            return pointee_text(type, depth) + "&";
        case DW_TAG_rvalue_reference_type:
            return pointee_text(type, depth) + "&&";
        case DW_TAG_const_type:
            return qualified("const", pointee_text(type, depth));
        case DW_TAG_volatile_type:
            return qualified("volatile", pointee_text(type, depth));
        case DW_TAG_restrict_type:
        case DW_TAG_atomic_type:
            return pointee_text(type, depth);
        case DW_TAG_subroutine_type:
            return "function";
        case DW_TAG_array_type:
            return pointee_text(type, depth) + "[]";
        case DW_TAG_structure_type:
            return named(type, "struct");
        case DW_TAG_class_type:
            return named(type, "class");
        case DW_TAG_union_type:
            return named(type, "union");
        case DW_TAG_enumeration_type:
            return named(type, "enum");
        case DW_TAG_ptr_to_member_type:
            return pointee_text(type, depth) + " member*";
        default:
            return named(type, "?");
    }
}

}  // namespace

bool type_of(Dwarf_Die die, Dwarf_Die& type) {
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(&die, DW_AT_type, &attribute) == nullptr) return false;
    return dwarf_formref_die(&attribute, &type) != nullptr;
}

std::string type_text(Dwarf_Die type) {
    std::string text = text_of(type, 0);
    if (text.size() > kLongestText) text = text.substr(0, kLongestText) + "...";
    return text;
}

}  // namespace rdam
