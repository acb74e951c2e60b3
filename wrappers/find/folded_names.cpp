#include "wrappers/find/folded_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "tools/base/demangle.h"

namespace rdam {
namespace {

/// What all spellings of a name have in common.
std::string core_of(std::string_view linkage_name) {
    const CloneParts parts = split_clone(linkage_name);
    std::string name = display_name(parts.base, true);
    if (looks_mangled(parts.base)) return name;
    name.erase(0, name.find_first_not_of('_'));
    name.erase(name.find_last_not_of('_') + 1);
    for (char& c : name)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name;
}

}  // namespace

bool is_c_library(const ObjectFile& file) {
    constexpr std::array<std::string_view, 9> kNames{
        "libc.", "libm.", "libmvec.", "libpthread.", "librt.", "libdl.", "libresolv.", "libanl.", "libutil."};
    return std::any_of(kNames.begin(), kNames.end(),
                       [&](std::string_view name) { return file.soname().starts_with(name); });
}

std::vector<std::string> folded_names(const ObjectFile& file, std::uint64_t address,
                                      std::string_view linkage_name) {
    std::vector<std::string> names;
    if (is_c_library(file)) return names;
    const auto symbols = file.at(address);
    const auto own = std::ranges::find(symbols, linkage_name, &Symbol::name);
    if (own == symbols.end()) return names;
    std::set<std::string> known{core_of(linkage_name)};
    for (const Symbol& symbol : symbols) {
        const bool weak = symbol.binding == SymbolBinding::weak;
        if (symbol.kind != SymbolKind::function || weak != (own->binding == SymbolBinding::weak)) continue;
        // Names with two underscores are a library's own for what it exports under others.
        if (symbol.name.starts_with("__") && !looks_mangled(symbol.name)) continue;
        if (!known.insert(core_of(symbol.name)).second) continue;
        std::string name = display_name(symbol.name);
        names.push_back(name == display_name(linkage_name) ? display_name(symbol.name, true) : name);
    }
    return names;
}

}  // namespace rdam
