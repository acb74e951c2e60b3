#include "wrappers/object/dwarf_file.h"

#include <dwarf.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <initializer_list>

#include "tools/base/demangle.h"
#include "tools/base/files.h"

namespace rdam {
namespace {

/// Calls `use(begin, end)` for each range of code of a DIE.
template <class Use>
void for_each_range(Dwarf_Die& die, Use&& use) {
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    // A hostile range list may be long: nothing real has this many.
    constexpr int kMaxRanges = 1 << 20;
    std::ptrdiff_t offset = 0;
    for (int count = 0; count < kMaxRanges; ++count) {
        offset = dwarf_ranges(&die, offset, &base, &begin, &end);
        if (offset <= 0) return;
        // The linker leaves dropped functions behind at address 0.
        if (begin < end && begin != 0) use(begin, end);
    }
}

/// Whether functions may be found below a DIE with this tag.
bool may_hold_functions(int tag) {
    switch (tag) {
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_union_type:
        case DW_TAG_subprogram:
        case DW_TAG_lexical_block:
        case DW_TAG_partial_unit:
            return true;
        default:
            return false;
    }
}

void collect_functions(Dwarf_Die parent, int depth, std::vector<DwarfFunction>& functions) {
    Dwarf_Die die;
    if (depth > kDeepestNesting || dwarf_child(&parent, &die) != 0) return;
    do {
        const int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram) {
            for_each_range(die, [&](std::uint64_t begin, std::uint64_t end) {
                functions.push_back({begin, end, die});
            });
        }
        if (may_hold_functions(tag) && dwarf_haschildren(&die) == 1)
            collect_functions(die, depth + 1, functions);
    } while (dwarf_siblingof(&die, &die) == 0);
}

/// Collects the functions that are described as inlined.
class InlinedReader {
  public:
    explicit InlinedReader(DwarfFile::InlinedFunctions& found) : found_{found} {}

    void read(Dwarf_Die parent, std::size_t unit, int depth) {
        Dwarf_Die die;
        if (depth > kDeepestNesting || dwarf_child(&parent, &die) != 0) return;
        do {
            if (++entries_ > kMaxEntries) {
                found_.complete = false;
                return;
            }
            const int tag = dwarf_tag(&die);
            if (tag == DW_TAG_subprogram) {
                note(die, unit);
            } else if (tag == DW_TAG_namespace || tag == DW_TAG_module) {
                read(die, unit, depth + 1);
            }
        } while (dwarf_siblingof(&die, &die) == 0);
    }

  private:
    void note(Dwarf_Die& die, std::size_t unit) {
        if (dwarf_hasattr(&die, DW_AT_inline) == 0) return;
        Dwarf_Attribute attribute;
        const char* name = dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_name, &attribute));
        if (name == nullptr) return;
        const auto hash = std::hash<std::string_view>{}(without_template_arguments(name));
        found_.functions.push_back({hash, unit, die});
    }

    DwarfFile::InlinedFunctions& found_;
    std::uint64_t entries_ = 0;
};

std::string text_attribute(Dwarf_Die die, std::initializer_list<unsigned> names) {
    Dwarf_Attribute attribute;
    for (const unsigned name : names)
        if (const char* text = dwarf_formstring(dwarf_attr(&die, name, &attribute))) return text;
    return {};
}

/// The file with the rest of a unit (-gsplit-dwarf), as its compiler called it.
std::string split_file_of(Dwarf_Die skeleton) {
    const std::string name = text_attribute(skeleton, {DW_AT_dwo_name, DW_AT_GNU_dwo_name});
    return name.empty() ? "a .dwo file" : name;
}

/// Where libdw looks for it.
void add_split_places(Dwarf_Die skeleton, const std::string& object, std::vector<std::string>& places) {
    const std::filesystem::path name = split_file_of(skeleton);
    for (const std::filesystem::path& folder :
         {std::filesystem::path(text_attribute(skeleton, {DW_AT_comp_dir})),
          std::filesystem::path(object).parent_path()})
        places.push_back((folder / name).string());
}

template <class Range>
const Range* covering(const std::vector<Range>& ranges, std::uint64_t address) {
    auto after = std::ranges::upper_bound(ranges, address, {}, &Range::begin);
    // Ranges may nest (functions within functions): the innermost one begins last.
    for (int steps = 0; after != ranges.begin() && steps < kDeepestNesting; ++steps) {
        --after;
        if (address < after->end) return &*after;
    }
    return nullptr;
}

}  // namespace

void DwarfFile::read_units(const std::string& object) {
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    Dwarf_Die split;
    std::uint8_t type = 0;
    while (dwarf_get_units(dwarf_.get(), unit, &unit, nullptr, &type, &die, &split) == 0) {
        const int tag = dwarf_tag(&die);
        const bool skeleton = type == DW_UT_skeleton;
        if (tag != DW_TAG_compile_unit && tag != DW_TAG_partial_unit && !skeleton) continue;
        for_each_range(die, [&](std::uint64_t begin, std::uint64_t end) {
            ranges_.push_back({begin, end, units_.size()});
        });
        if (skeleton) add_split_places(die, object, split_places_);
        if (skeleton && split.addr != nullptr) {
            units_.push_back({split.cu, split});
        } else {
            units_.push_back({unit, die});
            if (skeleton && missing_.empty()) missing_ = split_file_of(die);
        }
    }
    std::ranges::sort(ranges_, {}, &UnitRange::begin);
}

const std::vector<DwarfFunction>& DwarfFile::functions_of(std::size_t unit) {
    const auto [entry, is_new] = functions_.try_emplace(unit);
    if (is_new) {
        collect_functions(units_[unit].die, 0, entry->second);
        std::ranges::stable_sort(entry->second, {}, &DwarfFunction::begin);
    }
    return entry->second;
}

std::optional<DwarfFile> DwarfFile::open(const ObjectFile& object) {
    const ElfImage* image = object.debug_image();
    Dwarf* const dwarf = image == nullptr ? nullptr : dwarf_begin_elf(image->handle(), DWARF_C_READ, nullptr);
    if (dwarf == nullptr) return std::nullopt;
    DwarfFile file{dwarf, image->name()};
    // All of them together, as dwp puts them.
    auto& places = file.split_places_;
    if (!places.empty()) places.push_back(object.path() + ".dwp");
    return file;
}

const DwarfFile::InlinedFunctions& DwarfFile::inlined_functions() {
    if (!inlined_) {
        InlinedFunctions& found = inlined_.emplace(InlinedFunctions{});
        InlinedReader reader{found};
        for (std::size_t unit = 0; unit < units_.size(); ++unit)
            reader.read(units_[unit].die, unit, 0);
        std::ranges::stable_sort(found.functions, {}, &Inlined::name_hash);
    }
    return *inlined_;
}

const DwarfFile::Unit* DwarfFile::unit_at(std::uint64_t address) {
    const UnitRange* range = covering(ranges_, address);
    return range == nullptr ? nullptr : &units_[range->unit];
}

const DwarfFunction* DwarfFile::function_at(std::uint64_t address) {
    const UnitRange* range = covering(ranges_, address);
    return range == nullptr ? nullptr : covering(functions_of(range->unit), address);
}

const DwarfFunction* DwarfFile::function_starting_at(std::uint64_t address, std::string_view linkage_name) {
    const UnitRange* range = covering(ranges_, address);
    if (range == nullptr) return nullptr;
    const auto& functions = functions_of(range->unit);
    auto candidate = std::ranges::lower_bound(functions, address, {}, &DwarfFunction::begin);
    const DwarfFunction* first = nullptr;
    for (; candidate != functions.end() && candidate->begin == address; ++candidate) {
        if (linkage_name_of(candidate->die) == linkage_name) return &*candidate;
        if (first == nullptr) first = &*candidate;
    }
    return first;
}

std::string_view linkage_name_of(Dwarf_Die die) {
    Dwarf_Attribute attribute;
    for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
        if (dwarf_attr_integrate(&die, name, &attribute) == nullptr) continue;
        if (const char* text = dwarf_formstring(&attribute)) return text;
    }
    return {};
}

std::string display_name_of(Dwarf_Die die) {
    return display_name(linkage_name_of(die));
}

std::string_view without_template_arguments(std::string_view name) {
    return name.starts_with("operator") ? name : name.substr(0, name.find('<'));
}

std::string declaration_of(Dwarf_Die die) {
    // Of a split unit (.dwo) libdw ends the process where it has not been asked for the files before.
    Dwarf_Attribute attribute;
    Dwarf_Die unit;
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    if (dwarf_attr_integrate(&die, DW_AT_decl_file, &attribute) == nullptr ||
        dwarf_cu_info(attribute.cu, nullptr, nullptr, &unit, nullptr, nullptr, nullptr, nullptr) != 0 ||
        dwarf_getsrcfiles(&unit, &files, &count) != 0)
        return {};
    const char* file = dwarf_decl_file(&die);
    int line = 0;
    if (file == nullptr || dwarf_decl_line(&die, &line) != 0) return {};
    return fmt::format("{}:{}", file_name(file), line);
}

}  // namespace rdam
