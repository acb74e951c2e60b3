#include "wrappers/hot/waiting_functions.h"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <set>

#include "wrappers/catalogue/known_programs.h"
#include "wrappers/object/elf_image.h"

namespace rdam {
namespace {

constexpr std::string_view kInternal = "__GI_";  // in front of glibc's own names

std::vector<std::string> symbols_of(const ElfSection& section, Elf* elf, bool defined) {
    std::vector<std::string> names;
    auto* data = elf_getdata(section.handle, nullptr);
    if (data == nullptr || section.header.sh_entsize == 0) return names;
    for (std::size_t i = 1; i < data->d_size / section.header.sh_entsize; ++i) {
        GElf_Sym symbol;
        if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
        const auto* name = elf_strptr(elf, section.header.sh_link, symbol.st_name);
        if (name == nullptr || (symbol.st_shndx != SHN_UNDEF) != defined) continue;
        const auto type = GELF_ST_TYPE(symbol.st_info);
        if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) continue;
        const std::string_view text(name);
        names.emplace_back(text.substr(0, text.find('@')));
    }
    return names;
}

/// Names of the functions that an ELF file calls elsewhere (its undefined dynamic symbols, without version),
/// or, if it is linked statically, of the functions that it contains.
Result<std::vector<std::string>> callable_names(const std::string& path) {
    const auto image = ElfImage::open(path);
    if (!image) return tl::unexpected(image.error());
    const auto sections = read_sections(*image);
    for (const GElf_Word table : {SHT_DYNSYM, SHT_SYMTAB}) {
        const auto found = std::ranges::find_if(
            sections, [&](const ElfSection& section) { return section.header.sh_type == table; });
        if (found != sections.end()) return symbols_of(*found, image->handle(), table == SHT_SYMTAB);
    }
    return std::vector<std::string>{};
}

/// A name as programmers know it: without version (`@@GLIBC_2.3.2`), `__GI_` and leading underscores.
std::string_view plain_name(std::string_view symbol) {
    symbol = symbol.substr(0, symbol.find('@'));
    if (symbol.starts_with(kInternal)) symbol.remove_prefix(kInternal.size());
    const auto first = symbol.find_first_not_of('_');
    return first == std::string_view::npos ? symbol : symbol.substr(first);
}

}  // namespace

WaitingFunctions waiting_functions(const std::vector<std::string>& objects, const Catalogue& catalogue) {
    WaitingFunctions result;
    std::set<std::string> found;
    for (const auto& object : objects) {
        if (KnownPrograms::builtin().is_launcher(object)) continue;
        const auto names = callable_names(object);
        if (!names) {
            result.unreadable.push_back(names.error().message);
            continue;
        }
        ++result.objects;
        for (const auto& name : *names) {
            const auto* function = catalogue.find(name);
            if (function != nullptr && function->waits && !function->unlisted) found.insert(function->name);
        }
    }
    result.names.assign(found.begin(), found.end());
    return result;
}

std::string well_known_name(std::string_view symbol, const Catalogue& catalogue) {
    constexpr std::string_view kLibc = "libc_";
    const auto plain = plain_name(symbol);
    const auto bare = plain.substr(0, kLibc.size()) == kLibc ? plain.substr(kLibc.size()) : plain;
    auto internal = symbol.substr(0, symbol.find('@'));
    if (internal.substr(0, kInternal.size()) == kInternal) internal.remove_prefix(kInternal.size());
    for (const auto name : {bare, plain, internal})
        if (const auto* known = catalogue.find(name); known != nullptr && known->name == name)
            return known->name;
    return {};
}

}  // namespace rdam
