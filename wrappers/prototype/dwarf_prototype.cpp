#include "wrappers/prototype/dwarf_prototype.h"

#include <dwarf.h>

#include <algorithm>
#include <array>

#include "tools/base/demangle.h"
#include "wrappers/prototype/locations.h"
#include "wrappers/prototype/type_layout.h"
#include "wrappers/prototype/type_walk.h"

namespace rdam {
namespace {

constexpr int kLongestOriginChain = 8;
constexpr std::size_t kMaxParameters = 256;

/// The concrete function, its abstract origin and its declaration, as far as they exist.
struct OriginChain {
    std::vector<Dwarf_Die> dies;
    bool broken = false;  ///< there is more, in a file that could not be read (dwz's shared one)
};

OriginChain origin_chain(Dwarf_Die function) {
    OriginChain chain{{function}};
    for (int steps = 0; steps < kLongestOriginChain; ++steps) {
        Dwarf_Attribute attribute;
        Dwarf_Attribute* reference = dwarf_attr(&chain.dies.back(), DW_AT_abstract_origin, &attribute);
        if (reference == nullptr) reference = dwarf_attr(&chain.dies.back(), DW_AT_specification, &attribute);
        if (reference == nullptr) return chain;
        Dwarf_Die target;
        if (dwarf_formref_die(reference, &target) == nullptr) break;
        chain.dies.push_back(target);
    }
    chain.broken = true;
    return chain;
}

struct ParameterList {
    std::vector<Dwarf_Die> parameters;
    bool variadic = false;
};

void collect_parameters(Dwarf_Die parent, ParameterList& list) {
    Dwarf_Die child;
    if (dwarf_child(&parent, &child) != 0) return;
    do {
        const int tag = dwarf_tag(&child);
        if (tag == DW_TAG_formal_parameter && list.parameters.size() < kMaxParameters) {
            list.parameters.push_back(child);
        }
        if (tag == DW_TAG_unspecified_parameters) list.variadic = true;
        if (tag == DW_TAG_GNU_formal_parameter_pack) collect_parameters(child, list);
    } while (dwarf_siblingof(&child, &child) == 0);
}

/// The compilation unit of the source; with link-time optimisation another one than that of the code.
struct Compilation {
    bool is_c = false;
    bool is_cplusplus = false;
    bool is_llvm = false;
    std::string_view language = "a language that is not known";  ///< where it is neither C nor C++

    /// Debug information does not describe its conventions.
    bool is_foreign() const { return !is_c && !is_cplusplus; }
};

constexpr std::string_view kAssembly = "assembly";

/// The languages whose compilers Debian has, by DWARF's number.
std::string_view language_name(int number) {
    constexpr int kAda2005 = 0x2e;
    constexpr int kAda2012 = 0x2f;
    if (is_fortran(number)) return "Fortran";
    switch (number) {
        case DW_LANG_Ada83:
        case DW_LANG_Ada95:
        case kAda2005:
        case kAda2012:
            return "Ada";
        case DW_LANG_D:
            return "D";
        case DW_LANG_Pascal83:
            return "Pascal";
        case DW_LANG_Rust:
            return "Rust";
        case DW_LANG_Mips_Assembler:
            return kAssembly;
        default:
            return "another language";
    }
}

Compilation compilation_of(const OriginChain& chain) {
    Compilation result;
    const int language = language_of(chain.dies.back());
    result.is_c = is_c(language);
    result.is_cplusplus = language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 ||
                          language == DW_LANG_C_plus_plus_11 || language == DW_LANG_C_plus_plus_14;
    if (result.is_foreign() && language != 0) result.language = language_name(language);
    Dwarf_Die code = chain.dies.front();
    Dwarf_Die unit;
    if (dwarf_diecu(&code, &unit, nullptr, nullptr) != nullptr) {
        const std::string_view producer = text_attribute(unit, DW_AT_producer);
        result.is_llvm = !producer.starts_with("GNU ");
    }
    return result;
}

/// Whether the unit of a function describes types or parameters at all. With -g1 it does not, and every
/// function looks as if it had none.
bool describes_types(Dwarf_Die function) {
    Dwarf_Die unit;
    Dwarf_Die child;
    if (dwarf_diecu(&function, &unit, nullptr, nullptr) == nullptr || dwarf_child(&unit, &child) != 0)
        return false;
    do {
        switch (dwarf_tag(&child)) {
            case DW_TAG_base_type:
            case DW_TAG_pointer_type:
            case DW_TAG_structure_type:
            case DW_TAG_class_type:
            case DW_TAG_typedef:
            case DW_TAG_imported_unit:
                return true;
            default:
                break;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
    // Where nothing has a type, nothing may need one.
    return has_flag(function, DW_AT_prototyped);
}

/// Suffixes that leave the parameters as they are; every other one is a copy made for some callers.
bool keeps_signature(std::string_view suffix) {
    constexpr std::array<std::string_view, 4> kHarmless{".lto_priv", ".localalias", ".default", ".llvm"};
    if (suffix.empty()) return true;
    return std::ranges::any_of(kHarmless, [&](std::string_view harmless) {
        return suffix.starts_with(harmless) &&
               suffix.find_first_not_of("0123456789.", harmless.size()) == std::string_view::npos;
    });
}

/// Functions inside others have numbers behind their names (Ada), which is no copy either.
bool is_no_copy(std::string_view linkage_name) {
    std::string_view suffix = split_clone(linkage_name).suffix;
    while (suffix.size() > 1 && suffix.front() == '.') {
        const std::size_t end = std::min(suffix.find_first_not_of("0123456789", 1), suffix.size());
        if (end == 1) break;
        suffix.remove_prefix(end);
    }
    return keeps_signature(suffix);
}

/// What makes the parameters as written differ from those in the code, apart from their types.
std::string doubt_about(const OriginChain& chain, const ParameterList& concrete,
                        const ParameterList& declared, const Compilation& compilation,
                        std::string_view linkage_name) {
    const Dwarf_Die& function = chain.dies.front();
    if (chain.broken) return "described in another file, which cannot be read";
    const bool copy = !compilation.is_foreign() ? !keeps_signature(split_clone(linkage_name).suffix)
                                                : !is_no_copy(linkage_name);
    if (copy) {
        return "a copy the compiler made for some callers, whose parameters may differ";
    }
    if (declared.parameters.empty() && compilation.language != kAssembly &&
        !describes_types(chain.dies.back()))
        return "the debug information has no parameters (-g1)";
    if (compilation.is_foreign())
        return fmt::format("written in {}, whose convention debug information does not describe",
                           compilation.language);
    // LLVM drops and splits parameters of functions if it sees all of their callers, and does not record
    // that.
    if (compilation.is_llvm && !has_flag(function, DW_AT_external)) {
        return "a local function of a compiler that changes their parameters";
    }
    const auto convention = unsigned_attribute(function, DW_AT_calling_convention).value_or(DW_CC_normal);
    if (convention != DW_CC_normal && convention != DW_CC_program) return "another calling convention";
    const bool prototyped = has_flag(function, DW_AT_prototyped);
    if (compilation.is_c && !prototyped && (declared.variadic || !declared.parameters.empty())) {
        return "a definition without prototype";
    }
    if (!concrete.parameters.empty() && concrete.parameters.size() < declared.parameters.size()) {
        const bool constructor = std::ranges::any_of(declared.parameters, [](const Dwarf_Die& parameter) {
            const auto name = text_attribute(parameter, DW_AT_name);
            return name == "__in_chrg" || name == "__vtt_parm";
        });
        if (!constructor) return "fewer parameters in the code than in the source";
    }
    return {};
}

void add_parameter(Dwarf_Die die, Prototype& prototype, std::vector<std::size_t>& wide_integers) {
    PrototypeParameter parameter;
    parameter.name = text_attribute(die, DW_AT_name);
    if (parameter.name == "__in_chrg") prototype.doubt = "a constructor with virtual bases";
    Dwarf_Die type;
    if (!type_of(die, type)) {
        prototype.doubt = fmt::format("parameter {} of unknown type", parameter.name);
        return;
    }
    TypeLayout layout = layout_of(type);
    if (!layout.doubt.empty() && prototype.doubt.empty()) prototype.doubt = layout.doubt;
    parameter.type = type_text(type);
    parameter.passed = layout.passed;
    parameter.scalar = layout.scalar;
    if (layout.is_wide_integer) wide_integers.push_back(prototype.parameters.size());
    prototype.parameters.push_back(std::move(parameter));
}

void set_result(Dwarf_Die function, Prototype& prototype) {
    Dwarf_Die type;
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(&function, DW_AT_type, &attribute) == nullptr) return;
    if (dwarf_formref_die(&attribute, &type) == nullptr) {
        prototype.doubt = "a result of unknown type";
        return;
    }
    prototype.result.type = type_text(type);
    if (prototype.result.type == "void") return;
    TypeLayout layout = layout_of(type);
    if (!layout.doubt.empty() && prototype.doubt.empty()) prototype.doubt = layout.doubt;
    prototype.result.where = layout.returned;
    prototype.result.scalar = layout.scalar;
}

/// clang once passed a 16-byte integer that is short of registers half in one and half on the stack.
void doubt_split_integers(const std::vector<std::size_t>& wide_integers, Prototype& prototype) {
    ArgumentAllocator allocator{prototype.result.where == PrototypeResult::Where::hidden_pointer};
    for (std::size_t index = 0; index < prototype.parameters.size(); ++index) {
        const ArgumentPlace place = allocator.place(prototype.parameters[index].passed);
        const bool wide = std::ranges::find(wide_integers, index) != wide_integers.end();
        if (wide && place.kind == ArgumentPlace::Kind::stack)
            prototype.doubt = "a 16-byte integer on the stack";
    }
}

/// Compilers drop, split and reorder the parameters of functions whose callers they know, and attributes give
/// functions conventions of which debug information says nothing. Where the parameters are at the entry
/// tells.
void check_places(Dwarf_Die function, std::uint64_t address, const std::vector<Dwarf_Die>& parameters,
                  bool is_llvm, Prototype& prototype) {
    ArgumentAllocator allocator{prototype.result.where == PrototypeResult::Where::hidden_pointer};
    const std::size_t known = std::min(parameters.size(), prototype.parameters.size());
    bool silent = false;
    bool silent_on_stack = false;
    bool agreed = false;
    for (std::size_t index = 0; index < known; ++index) {
        PrototypeParameter& parameter = prototype.parameters[index];
        const ArgumentPlace place = allocator.place(parameter.passed);
        if (place.kind == ArgumentPlace::Kind::nowhere) continue;
        switch (evidence_at_entry(function, parameters[index], address, place, is_llvm)) {
            case EntryEvidence::agrees:
                agreed = true;
                break;
            case EntryEvidence::silent:
                parameter.unproven = silent = true;
                silent_on_stack = silent_on_stack || place.kind == ArgumentPlace::Kind::stack;
                break;
            case EntryEvidence::contradicts:
                if (prototype.doubt.empty()) {
                    prototype.doubt = fmt::format(
                        "at its entry, parameter {} is not where the usual calling convention puts it",
                        parameter.name);
                }
                return;
        }
    }
    // What is dropped makes less of the stack needed, not more; only another convention would, if nothing
    // speaks for the usual one.
    prototype.stack_unproven = silent_on_stack && !agreed;
    // Who drops parameters that nobody reads drops results, too.
    if (silent && is_llvm) prototype.result.scalar.reset();
}

}  // namespace

std::optional<FunctionDescription> describe_function(DwarfFile& dwarf, std::uint64_t address,
                                                     std::string_view linkage_name) {
    const DwarfFunction* function = dwarf.function_starting_at(address, linkage_name);
    if (function == nullptr) return std::nullopt;
    const auto chain = origin_chain(function->die);
    ParameterList concrete;
    collect_parameters(chain.dies.front(), concrete);
    ParameterList declared = concrete;
    for (std::size_t index = 1; index < chain.dies.size(); ++index) {
        ParameterList list;
        collect_parameters(chain.dies[index], list);
        if (list.parameters.size() > declared.parameters.size()) declared.parameters = list.parameters;
        declared.variadic = declared.variadic || list.variadic;
    }
    const Compilation compilation = compilation_of(chain);

    FunctionDescription description;
    description.declared_at = declaration_of(function->die);
    Prototype& prototype = description.prototype;
    prototype.variadic = declared.variadic;
    prototype.doubt = doubt_about(chain, concrete, declared, compilation, linkage_name);
    const auto& parameters = concrete.parameters.empty() ? declared.parameters : concrete.parameters;
    if (compilation.is_foreign()) {
        const bool listed = !concrete.parameters.empty() || declared.parameters.empty();
        const bool readable = !chain.broken && is_no_copy(linkage_name) && listed;
        if (readable && (!concrete.parameters.empty() || describes_types(chain.dies.back())))
            description.claims = parameter_claims(function->die, address, concrete.parameters);
        return description;
    }
    std::vector<std::size_t> wide_integers;
    for (const Dwarf_Die& parameter : parameters) {
        add_parameter(parameter, prototype, wide_integers);
    }
    if (parameters.size() >= kMaxParameters) prototype.doubt = "more parameters than can be followed";
    set_result(function->die, prototype);
    if (compilation.is_llvm) doubt_split_integers(wide_integers, prototype);
    check_places(function->die, address, parameters, compilation.is_llvm, prototype);
    return description;
}

}  // namespace rdam
