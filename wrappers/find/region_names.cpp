#include "wrappers/find/region_names.h"

#include <algorithm>
#include <string>

#include "tools/base/glob.h"

namespace rdam {
namespace {

std::vector<std::string_view> constants_of(const ObjectFile& file) {
    std::vector<std::string_view> constants;
    for (const ElfSection& section : file.sections()) {
        const bool constant = section.header.sh_type == SHT_PROGBITS &&
                              (section.header.sh_flags & SHF_ALLOC) != 0 &&
                              (section.header.sh_flags & SHF_EXECINSTR) == 0;
        if (!constant) continue;
        const auto bytes = section_bytes(section);
        constants.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return constants;
}

bool hold(const std::vector<std::string_view>& constants, std::string_view text) {
    return std::ranges::any_of(
        constants, [&](std::string_view bytes) { return bytes.find(text) != std::string_view::npos; });
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

RegionNames::RegionNames(const ObjectFile& file) {
    auto constants = constants_of(file);
    // What rdam.h and rdam.f90 look up.
    if (!hold(constants, terminated("rdam_region_begin"))) return;
    constants_ = std::move(constants);
    terminated_ = !is_fortran(file);
    for (const std::string_view bytes : constants_)
        pieces_.add(bytes);
}

bool RegionNames::may_hold(std::string_view name) const {
    if (name.empty() || constants_.empty() || !pieces_.may_contain(name)) return false;
    return hold(constants_, terminated_ ? terminated(name) : std::string{name});
}

bool RegionNames::may_match(std::string_view pattern) const {
    // Where a name ends is not known: its beginning must do.
    if (!terminated_) return hold(constants_, pattern.substr(0, pattern.find_first_of("*?[")));
    return std::ranges::any_of(constants_, [&](std::string_view bytes) {
        for (std::size_t end = bytes.find('\0'); end != std::string_view::npos; end = bytes.find('\0')) {
            if (glob_match(pattern, bytes.substr(0, end))) return true;
            bytes.remove_prefix(end + 1);
        }
        return false;
    });
}

}  // namespace rdam
