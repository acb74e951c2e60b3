#include "wrappers/hot/waiting_functions.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>

#include "wrappers/catalogue/known_programs.h"
#include "wrappers/hot/kernel_frames.h"

namespace rdam {
namespace {

struct CloseElf {
    void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, CloseElf>;

Elf_Scn* find_section(Elf* elf, GElf_Word type, GElf_Shdr& header) {
    for (auto* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section))
        if (gelf_getshdr(section, &header) != nullptr && header.sh_type == type) return section;
    return nullptr;
}

std::vector<std::string> symbols_of(Elf* elf, GElf_Word table, bool defined) {
    std::vector<std::string> names;
    GElf_Shdr header;
    auto* section = find_section(elf, table, header);
    auto* data = section != nullptr ? elf_getdata(section, nullptr) : nullptr;
    if (data == nullptr || header.sh_entsize == 0) return names;
    for (std::size_t i = 1; i < data->d_size / header.sh_entsize; ++i) {
        GElf_Sym symbol;
        if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
        const auto* name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (name == nullptr || (symbol.st_shndx != SHN_UNDEF) != defined) continue;
        const auto type = GELF_ST_TYPE(symbol.st_info);
        if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) continue;
        const std::string_view text(name);
        names.emplace_back(text.substr(0, text.find('@')));
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

Result<std::vector<std::string>> callable_names(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail("{}: cannot be opened: {}", path, std::strerror(errno));
    elf_version(EV_CURRENT);
    std::vector<std::string> names;
    bool is_elf = false;
    {
        const ElfHandle elf(elf_begin(fd, ELF_C_READ, nullptr));
        is_elf = elf != nullptr && elf_kind(elf.get()) == ELF_K_ELF;
        GElf_Shdr header;
        if (is_elf && find_section(elf.get(), SHT_DYNSYM, header) != nullptr)
            names = symbols_of(elf.get(), SHT_DYNSYM, false);
        else if (is_elf)
            names = symbols_of(elf.get(), SHT_SYMTAB, true);
    }
    ::close(fd);
    if (!is_elf) return fail("{}: is not an ELF file", path);
    return names;
}

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
    constexpr std::string_view kInternal = "__GI_";
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
