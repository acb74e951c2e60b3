#include "wrappers/object/inlined_copies.h"

#include <dwarf.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "tools/base/demangle.h"

namespace rdam {
namespace {

/// The variants of a constructor or destructor (C1, C2, …) have one description between them, called C4 or
/// D4.
std::string unified_structor_name(std::string_view linkage_name) {
    std::string name{linkage_name};
    if (!name.starts_with("_ZN")) return name;
    for (const std::string_view variant : {"C1E", "C2E", "D0E", "D1E", "D2E"}) {
        const std::size_t at = name.rfind(variant);
        if (at != std::string::npos) return name.replace(at + 1, 1, "4");
    }
    return name;
}

/// What the debug information may call a function that a person gives this name.
std::unordered_set<std::string> plain_names_of(std::string_view name) {
    const std::string_view brief = name.substr(0, name.starts_with('(') ? name.npos : name.find('(', 1));
    return {std::string{without_template_arguments(last_component(brief))},
            std::string{without_template_arguments(last_component(display_name(name)))}};
}

class InlineSearch {
  public:
    InlineSearch(DwarfFile& dwarf, const std::vector<SourceFunction>& functions) : dwarf_{dwarf} {
        for (const SourceFunction& function : functions) {
            wanted_[unified_structor_name(function.name)].push_back(&function);
            plain_names_.insert(
                std::string{without_template_arguments(last_component(display_name(function.name)))});
        }
    }

    /// By the name a person gives: owns the functions that it finds.
    InlineSearch(DwarfFile& dwarf, std::string_view name)
        : dwarf_{dwarf}, asked_{normalized_name(name)}, plain_names_{plain_names_of(name)} {}

    std::map<SourceFunction, InlinedCopies> run() {
        std::set<std::size_t> holding;
        bool across_units = false;
        const DwarfFile::InlinedFunctions& inlined = dwarf_.inlined_functions();
        for (const std::string& name : plain_names_) {
            const auto hash = std::hash<std::string_view>{}(name);
            auto function =
                std::ranges::lower_bound(inlined.functions, hash, {}, &DwarfFile::Inlined::name_hash);
            for (; function != inlined.functions.end() && function->name_hash == hash; ++function) {
                const std::size_t before = origins_.size();
                Dwarf_Die die = function->die;
                note_origin(die);
                if (origins_.size() == before) continue;
                // With link-time optimisation the source is described in one unit and its copies are in
                // another.
                Dwarf_Die unit = dwarf_.units()[function->unit].die;
                if (dwarf_hasattr(&unit, DW_AT_low_pc) == 0 && dwarf_hasattr(&unit, DW_AT_ranges) == 0)
                    across_units = true;
                holding.insert(function->unit);
            }
        }
        std::vector<const DwarfFile::Unit*> holders;
        holders.reserve(holding.size());
        for (const std::size_t unit : holding)
            holders.push_back(&dwarf_.units()[unit]);
        if (across_units) {
            holders.clear();
            for (const DwarfFile::Unit& unit : dwarf_.units())
                holders.push_back(&unit);
        }
        for (const DwarfFile::Unit* unit : holders)
            find_copies(unit->die, nullptr, 0);
        if (entries_ > kMaxEntries || !inlined.complete) {
            for (auto& [function, copies] : found_)
                copies.complete = false;
        }
        return std::move(found_);
    }

  private:
    void note_origin(Dwarf_Die& die) {
        if (!asked_.empty()) return note_asked(die);
        const auto wanted = wanted_.find(unified_structor_name(linkage_name_of(die)));
        if (wanted == wanted_.end()) return;
        const std::string declared_at = declaration_of(die);
        for (const SourceFunction* function : wanted->second) {
            if (function->declared_at.empty() || declared_at.empty() ||
                function->declared_at == declared_at) {
                origins_[dwarf_dieoffset(&die)] = function;
            }
        }
    }

    void note_asked(Dwarf_Die& die) {
        const std::string name{linkage_name_of(die)};
        const DemangledName demangled = demangle(name);
        const auto is_asked = [&](const std::string& text) {
            return !text.empty() && normalized_name(text) == asked_;
        };
        if (!is_asked(name) && !is_asked(demangled.brief) && !is_asked(demangled.signature) &&
            !is_asked(demangled.full)) {
            return;
        }
        const auto function = own_.insert(SourceFunction{name, declaration_of(die)}).first;
        origins_[dwarf_dieoffset(&die)] = &*function;
    }

    void find_copies(Dwarf_Die parent, Dwarf_Die* container, int depth) {
        Dwarf_Die die;
        if (depth > kDeepestNesting || dwarf_child(&parent, &die) != 0) return;
        do {
            if (++entries_ > kMaxEntries) return;
            const int tag = dwarf_tag(&die);
            switch (tag) {
                case DW_TAG_subprogram:
                    if (has_code(die)) {
                        Dwarf_Die inner = die;
                        find_copies(die, &inner, depth + 1);
                    }
                    break;
                case DW_TAG_inlined_subroutine:
                    if (container != nullptr) note_copy(die, *container);
                    find_copies(die, container, depth + 1);
                    break;
                case DW_TAG_lexical_block:
                case DW_TAG_namespace:
                case DW_TAG_module:
                    find_copies(die, container, depth + 1);
                    break;
                default:
                    break;
            }
        } while (dwarf_siblingof(&die, &die) == 0);
    }

    static bool has_code(Dwarf_Die& die) {
        return dwarf_hasattr(&die, DW_AT_low_pc) != 0 || dwarf_hasattr(&die, DW_AT_ranges) != 0;
    }

    /// gcc splits a function (-fpartial-inlining) and may put the parts together again: it describes that as
    /// a call of the function from where it is declared. Nobody calls it there.
    static bool is_own_part(Dwarf_Die copy, Dwarf_Die origin) {
        const auto number = [](Dwarf_Die& die, unsigned name) {
            Dwarf_Attribute attribute;
            Dwarf_Word value = 0;
            return dwarf_formudata(dwarf_attr_integrate(&die, name, &attribute), &value) == 0 ? value : 0;
        };
        const Dwarf_Word line = number(copy, DW_AT_call_line);
        return line != 0 && line == number(origin, DW_AT_decl_line) &&
               number(copy, DW_AT_call_file) == number(origin, DW_AT_decl_file) &&
               number(copy, DW_AT_call_column) == number(origin, DW_AT_decl_column);
    }

    void note_copy(Dwarf_Die& die, const Dwarf_Die& container) {
        if (!has_code(die) && dwarf_hasattr(&die, DW_AT_entry_pc) == 0) return;
        Dwarf_Attribute attribute;
        Dwarf_Die origin;
        if (dwarf_formref_die(dwarf_attr(&die, DW_AT_abstract_origin, &attribute), &origin) == nullptr)
            return;
        const auto function = origins_.find(dwarf_dieoffset(&origin));
        if (function == origins_.end()) return;
        if (is_own_part(die, origin)) return;
        InlinedCopies& copies = found_[*function->second];
        ++copies.count;
        if (copies.containers.size() >= kMaxContainers) return;
        std::string name = display_name_of(container);
        auto& names = copies.containers;
        if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }

    DwarfFile& dwarf_;
    std::unordered_map<std::string, std::vector<const SourceFunction*>> wanted_;  // by linkage name
    std::string asked_;
    std::set<SourceFunction> own_;
    std::unordered_set<std::string> plain_names_;
    std::unordered_map<Dwarf_Off, const SourceFunction*> origins_;
    std::map<SourceFunction, InlinedCopies> found_;
    std::uint64_t entries_ = 0;
};

}  // namespace

std::map<SourceFunction, InlinedCopies> find_inlined_copies(DwarfFile& dwarf,
                                                            const std::vector<SourceFunction>& functions) {
    return functions.empty() ? std::map<SourceFunction, InlinedCopies>{}
                             : InlineSearch{dwarf, functions}.run();
}

DebugStrings::DebugStrings(const ObjectFile& object) {
    // Reading a longer table takes as long as reading the debug information itself.
    constexpr std::uint64_t kLargest = std::uint64_t{16} << 20;
    const ElfImage* image = object.debug_image();
    if (image == nullptr) return;
    for (const ElfSection& section : read_sections(*image)) {
        if (section.name == ".gnu_debugaltlink") return;
        if (section.name != ".debug_str" || section.header.sh_size > kLargest) continue;
        const auto bytes = section_bytes(section);
        if (bytes.size() > kLargest) return;
        text_ = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    pieces_.add(text_);
}

bool DebugStrings::may_name(std::string_view name) const {
    // Shorter names stand where they are used.
    constexpr std::size_t kShortest = 4;
    if (text_.empty()) return true;
    const auto plain_names = plain_names_of(name);
    return std::ranges::any_of(plain_names, [&](const std::string& plain) {
        return plain.size() < kShortest ||
               (pieces_.may_contain(plain) && text_.find(plain) != std::string_view::npos);
    });
}

std::map<SourceFunction, InlinedCopies> find_inlined_by_name(DwarfFile& dwarf, std::string_view name) {
    return InlineSearch{dwarf, name}.run();
}

}  // namespace rdam
