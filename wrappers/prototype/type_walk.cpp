#include "wrappers/prototype/type_walk.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace rdam {

namespace {

constexpr int kDeepestType = 32;
constexpr std::uint64_t kMaxElements = 64;  // of arrays in aggregates small enough to travel in registers
constexpr std::uint64_t kLargestInRegisters = 16;

/// psABI 3.2.3, rule 4.
EightbyteClass merged(EightbyteClass a, EightbyteClass b) {
    using enum EightbyteClass;
    if (a == b) return a;
    if (a == none) return b;
    if (b == none) return a;
    if (a == memory || b == memory) return memory;
    if (a == integer || b == integer) return integer;
    const auto is_x87 = [](EightbyteClass c) { return c == x87 || c == x87_up || c == complex_x87; };
    if (is_x87(a) || is_x87(b)) return memory;
    return sse;
}

class Classifier {
  public:
    Classification take(const PeeledType& type) {
        result_.size = type.size;
        add(type, 0, 0);
        finish(type.tag == DW_TAG_base_type);
        return std::move(result_);
    }

  private:
    void doubt(std::string reason) {
        if (result_.doubt.empty()) result_.doubt = std::move(reason);
    }

    void set(std::uint64_t offset, EightbyteClass value) {
        const std::uint64_t index = offset / 8;
        if (index < result_.classes.size()) {
            result_.classes[index] = merged(result_.classes[index], value);
        } else if (result_.size <= kLargestInRegisters) {
            doubt("a member outside of its structure");
        }
    }

    /// A leaf of the type. A member off its natural alignment puts the whole aggregate in memory.
    void leaf(std::uint64_t offset, std::uint64_t alignment, EightbyteClass first, EightbyteClass second) {
        result_.alignment = std::max(result_.alignment, alignment);
        if (offset % alignment != 0) {
            result_.classes[0] = EightbyteClass::memory;
            return;
        }
        set(offset, first);
        if (second != EightbyteClass::none) set(offset + 8, second);
    }

    void add(const PeeledType& type, std::uint64_t offset, int depth) {
        if (depth > kDeepestType) return doubt("types nested too deeply");
        // clang writes the natural alignment of vectors at their typedef.
        if (type.typedef_alignment > 8 &&
            !(type.tag == DW_TAG_array_type && type.typedef_alignment == type.size)) {
            return doubt("a type that a typedef aligns");
        }
        switch (type.tag) {
            case DW_TAG_pointer_type:
            case DW_TAG_reference_type:
            case DW_TAG_rvalue_reference_type:
            case DW_TAG_unspecified_type:
                if (type.size != 8) return doubt("a pointer that has not 8 bytes");
                return leaf(offset, 8, EightbyteClass::integer, EightbyteClass::none);
            case DW_TAG_ptr_to_member_type:
                return leaf(offset, 8, EightbyteClass::integer,
                            type.size == 16 ? EightbyteClass::integer : EightbyteClass::none);
            case DW_TAG_enumeration_type:
                return add_integer(type.size, offset);
            case DW_TAG_base_type:
                return add_base(type, offset);
            case DW_TAG_structure_type:
            case DW_TAG_class_type:
            case DW_TAG_union_type:
                return add_aggregate(type, offset, depth);
            case DW_TAG_array_type:
                return add_array(type, offset, depth);
            default:
                return doubt(fmt::format("a value of type {}", type_text(type.die)));
        }
    }

    void add_integer(std::uint64_t size, std::uint64_t offset) {
        const bool known = size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
        if (!known) return doubt(fmt::format("an integer of {} bytes", size));
        leaf(offset, size, EightbyteClass::integer,
             size == 16 ? EightbyteClass::integer : EightbyteClass::none);
    }

    void add_base(const PeeledType& type, std::uint64_t offset) {
        Dwarf_Die die = type.die;
        const char* text = dwarf_diename(&die);
        const std::string_view name = text == nullptr ? "" : text;
        switch (unsigned_attribute(type.die, DW_AT_encoding).value_or(0)) {
            case DW_ATE_address:
            case DW_ATE_boolean:
            case DW_ATE_signed:
            case DW_ATE_signed_char:
            case DW_ATE_unsigned:
            case DW_ATE_unsigned_char:
            case DW_ATE_UTF:
                if (name.find("BitInt") != std::string_view::npos) return doubt("a _BitInt");
                return add_integer(type.size, offset);
            case DW_ATE_float:
                return add_float(name, type.size, offset);
            case DW_ATE_decimal_float:
                return leaf(offset, type.size, EightbyteClass::sse,
                            type.size == 16 ? EightbyteClass::sse_up : EightbyteClass::none);
            case DW_ATE_complex_float:
                return add_complex(name, type.size, offset);
            default:
                return doubt(fmt::format("a value of type {}", name));
        }
    }

    void add_float(std::string_view name, std::uint64_t size, std::uint64_t offset) {
        if (size == 2 || size == 4 || size == 8) {
            return leaf(offset, size, EightbyteClass::sse, EightbyteClass::none);
        }
        // Two formats have 16 bytes, and the encoding does not distinguish them.
        if (size == 16 && (name == "long double" || name == "_Float64x")) {
            return leaf(offset, 16, EightbyteClass::x87, EightbyteClass::x87_up);
        }
        if (size == 16 && (name == "_Float128" || name == "__float128")) {
            return leaf(offset, 16, EightbyteClass::sse, EightbyteClass::sse_up);
        }
        doubt(fmt::format("a floating-point type {}", name));
    }

    void add_complex(std::string_view name, std::uint64_t size, std::uint64_t offset) {
        if (size == 8) return leaf(offset, 4, EightbyteClass::sse, EightbyteClass::none);
        if (size == 16) return leaf(offset, 8, EightbyteClass::sse, EightbyteClass::sse);
        if (size == 32 && name.find("long double") != std::string_view::npos) {
            return leaf(offset, 16, EightbyteClass::complex_x87, EightbyteClass::none);
        }
        doubt(fmt::format("a complex type {}", name));
    }

    void add_array(const PeeledType& type, std::uint64_t offset, int depth) {
        Dwarf_Die die = type.die;
        if (dwarf_hasattr(&die, DW_AT_GNU_vector) != 0) {
            if (type.size == 8) return leaf(offset, 8, EightbyteClass::sse, EightbyteClass::none);
            if (type.size == 16) return leaf(offset, 16, EightbyteClass::sse, EightbyteClass::sse_up);
            return doubt(fmt::format("a vector of {} bytes", type.size));
        }
        Dwarf_Die element_die;
        const auto element = type_of(type.die, element_die) ? peel(element_die) : std::nullopt;
        if (!element || element->size == 0 || type.size == 0) return doubt("an array of unknown size");
        // Every element of an aggregate too large for registers has the same effect: on its alignment.
        const std::uint64_t count = std::min(type.size / element->size, kMaxElements);
        for (std::uint64_t index = 0; index < count; ++index) {
            add(*element, offset + index * element->size, depth + 1);
        }
    }

    void add_aggregate(const PeeledType& type, std::uint64_t offset, int depth) {
        if (type.is_atomic) return doubt("an atomic structure");
        Dwarf_Die die = type.die;
        if (dwarf_hasattr(&die, DW_AT_declaration) != 0) {
            return doubt(fmt::format("{}, which is not described here", type_text(type.die)));
        }
        if (const auto alignment = unsigned_attribute(type.die, DW_AT_alignment)) {
            result_.alignment = std::max(result_.alignment, *alignment);
        }
        Dwarf_Die child;
        if (dwarf_child(&die, &child) != 0) return;
        do {
            const int tag = dwarf_tag(&child);
            if (tag == DW_TAG_member || tag == DW_TAG_inheritance) add_member(child, offset, depth);
            if (tag == DW_TAG_variant_part) doubt("a structure with variants");
        } while (dwarf_siblingof(&child, &child) == 0);
    }

    void add_member(Dwarf_Die member, std::uint64_t base, int depth) {
        // Static members are listed among the others.
        if (dwarf_hasattr(&member, DW_AT_external) != 0 || dwarf_hasattr(&member, DW_AT_declaration) != 0)
            return;
        Dwarf_Die type_die;
        const auto type = type_of(member, type_die) ? peel(type_die) : std::nullopt;
        if (!type) return doubt("a member of unknown type");
        if (const auto alignment = unsigned_attribute(member, DW_AT_alignment)) {
            result_.alignment = std::max(result_.alignment, *alignment);
        }
        if (dwarf_hasattr(&member, DW_AT_bit_size) != 0) return add_bits(member, *type, base);
        std::uint64_t offset = 0;
        if (dwarf_hasattr(&member, DW_AT_data_member_location) != 0) {
            const auto location = unsigned_attribute(member, DW_AT_data_member_location);
            if (!location) return doubt("a member whose place is computed");
            offset = *location;
        }
        add(*type, base + offset, depth + 1);
    }

    void add_bits(Dwarf_Die member, const PeeledType& type, std::uint64_t base) {
        const auto width = unsigned_attribute(member, DW_AT_bit_size);
        const std::uint64_t location = unsigned_attribute(member, DW_AT_data_member_location).value_or(0);
        std::optional<std::uint64_t> first = unsigned_attribute(member, DW_AT_data_bit_offset);
        if (first) {
            *first += location * 8;
        } else if (const auto from_top = unsigned_attribute(member, DW_AT_bit_offset)) {
            // DWARF 3 counts from the most significant bit of the storage unit.
            const std::uint64_t storage = unsigned_attribute(member, DW_AT_byte_size).value_or(type.size) * 8;
            if (width && *from_top + *width <= storage) first = location * 8 + storage - *from_top - *width;
        }
        if (!width || *width == 0 || !first) return doubt("a bit-field whose place is unknown");
        result_.alignment = std::max(result_.alignment, type.size);
        set(base + *first / 8, EightbyteClass::integer);
        set(base + (*first + *width - 1) / 8, EightbyteClass::integer);
    }

    /// psABI 3.2.3, rule 5. `complex long double` keeps its class only outside of structures.
    void finish(bool is_bare) {
        auto& classes = result_.classes;
        const bool in_memory = std::ranges::count(classes, EightbyteClass::memory) > 0 ||
                               result_.size > kLargestInRegisters ||
                               (classes[1] == EightbyteClass::x87_up && classes[0] != EightbyteClass::x87);
        if (in_memory && !(is_bare && classes[0] == EightbyteClass::complex_x87)) {
            classes = {EightbyteClass::memory, EightbyteClass::memory};
        }
        if (classes[1] == EightbyteClass::sse_up && classes[0] != EightbyteClass::sse) {
            classes[1] = EightbyteClass::sse;
        }
    }

    Classification result_;
};

/// What DW_AT_byte_size, or the rules of DWARF where it is missing, say.
std::uint64_t size_of(Dwarf_Die die, int tag) {
    if (tag == DW_TAG_ptr_to_member_type) {
        Dwarf_Die target;
        const auto pointee = type_of(die, target) ? peel(target) : std::nullopt;
        return pointee && pointee->tag == DW_TAG_subroutine_type ? 16 : 8;
    }
    if (const auto size = unsigned_attribute(die, DW_AT_byte_size)) return *size;
    if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type)
        return 8;
    if (tag == DW_TAG_unspecified_type) {
        const char* name = dwarf_diename(&die);
        return name != nullptr && std::string_view{name}.find("nullptr") != std::string_view::npos ? 8 : 0;
    }
    Dwarf_Word size = 0;
    if (tag == DW_TAG_array_type && dwarf_aggregate_size(&die, &size) == 0) return size;
    return 0;
}

}  // namespace

std::optional<std::uint64_t> unsigned_attribute(Dwarf_Die die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_attr_integrate(&die, name, &attribute) == nullptr) return std::nullopt;
    if (dwarf_formudata(&attribute, &value) == 0) return value;
    // DWARF 2 and 3 write member places as an expression.
    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;
    const bool constant = dwarf_getlocation(&attribute, &operations, &count) == 0 && count == 1 &&
                          operations[0].atom == DW_OP_plus_uconst;
    return constant ? std::optional<std::uint64_t>{operations[0].number} : std::nullopt;
}

std::optional<PeeledType> peel(Dwarf_Die type) {
    PeeledType result;
    result.die = type;
    for (int depth = 0; depth < kDeepestType; ++depth) {
        result.tag = dwarf_tag(&result.die);
        switch (result.tag) {
            case DW_TAG_atomic_type:
                result.is_atomic = true;
                break;
            case DW_TAG_typedef:
                result.typedef_alignment = std::max(
                    result.typedef_alignment, unsigned_attribute(result.die, DW_AT_alignment).value_or(0));
                break;
            case DW_TAG_const_type:
            case DW_TAG_volatile_type:
            case DW_TAG_restrict_type:
            case DW_TAG_immutable_type:
                break;
            default:
                result.size = size_of(result.die, result.tag);
                if (result.tag == DW_TAG_invalid) return std::nullopt;
                return result;
        }
        Dwarf_Die target;
        if (!type_of(result.die, target)) return std::nullopt;
        result.die = target;
    }
    return std::nullopt;
}

Classification classify(const PeeledType& type) {
    return Classifier{}.take(type);
}

bool has_flag(Dwarf_Die die, unsigned name) {
    Dwarf_Attribute attribute;
    bool value = false;
    return dwarf_attr_integrate(&die, name, &attribute) != nullptr &&
           dwarf_formflag(&attribute, &value) == 0 && value;
}

int language_of(Dwarf_Die die) {
    Dwarf_Die unit;
    return dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr ? 0 : dwarf_srclang(&unit);
}

bool is_c(int language) {
    return language == DW_LANG_C89 || language == DW_LANG_C || language == DW_LANG_C99 ||
           language == DW_LANG_C11;
}

bool is_fortran(int language) {
    constexpr int kFortran18 = 0x2d;
    return language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 || language == DW_LANG_Fortran95 ||
           language == DW_LANG_Fortran03 || language == DW_LANG_Fortran08 || language == kFortran18;
}

std::string_view text_attribute(Dwarf_Die die, unsigned name) {
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(&die, name, &attribute) == nullptr) return {};
    const char* text = dwarf_formstring(&attribute);
    return text == nullptr ? std::string_view{} : std::string_view{text};
}

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
