#include "wrappers/plan/region_names.h"

#include <algorithm>
#include <string>

namespace rdam {
namespace {

bool holds(const ObjectFile& file, std::string_view text) {
    return std::ranges::any_of(file.sections(), [&](const ElfSection& section) {
        const bool constants = section.header.sh_type == SHT_PROGBITS &&
                               (section.header.sh_flags & SHF_ALLOC) != 0 &&
                               (section.header.sh_flags & SHF_EXECINSTR) == 0;
        if (!constants) return false;
        const auto bytes = section_bytes(section);
        const std::string_view characters{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
        return characters.find(text) != std::string_view::npos;
    });
}

std::string terminated(std::string_view text) {
    return std::string{text} + '\0';
}

/// Fortran's constants have a length instead.
bool is_fortran(const ObjectFile& file) {
    return std::ranges::any_of(file.imports(),
                               [](const std::string& name) { return name.starts_with("_gfortran_"); });
}

}  // namespace

bool may_have_region(const ObjectFile& file, std::string_view name) {
    // What rdam.h and rdam.f90 look up.
    if (name.empty() || !holds(file, terminated("rdam_region_begin"))) return false;
    return holds(file, is_fortran(file) ? std::string{name} : terminated(name));
}

}  // namespace rdam
