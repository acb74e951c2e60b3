#include "wrappers/object/symbol_reader.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace rdam {
namespace {

/// One symbol table with what belongs to it.
struct SymbolTable {
    Elf_Data* symbols = nullptr;
    std::size_t count = 0;
    std::span<const std::uint8_t> strings;
    Elf_Data* extended_indices = nullptr;
};

std::optional<SymbolTable> open_table(const ElfImage& image, std::uint32_t type,
                                      const std::vector<ElfSection>& sections) {
    for (const ElfSection& section : sections) {
        if (section.header.sh_type != type || section.header.sh_entsize == 0) continue;
        SymbolTable table;
        table.symbols = elf_getdata(section.handle, nullptr);
        if (table.symbols == nullptr || table.symbols->d_buf == nullptr) continue;
        const std::size_t entry = gelf_fsize(image.handle(), ELF_T_SYM, 1, EV_CURRENT);
        if (entry == 0) continue;
        table.count = table.symbols->d_size / entry;
        for (const ElfSection& other : sections) {
            if (elf_ndxscn(other.handle) == section.header.sh_link) table.strings = section_bytes(other);
            if (other.header.sh_type == SHT_SYMTAB_SHNDX &&
                other.header.sh_link == elf_ndxscn(section.handle)) {
                table.extended_indices = elf_getdata(other.handle, nullptr);
            }
        }
        return table;
    }
    return std::nullopt;
}

/// Version numbers of .gnu.version to names, from .gnu.version_d. The views point into the image.
std::unordered_map<unsigned, std::string_view> read_version_names(const std::vector<ElfSection>& sections) {
    std::unordered_map<unsigned, std::string_view> names;
    for (const ElfSection& section : sections) {
        if (section.header.sh_type != SHT_GNU_verdef) continue;
        Elf_Data* data = elf_getdata(section.handle, nullptr);
        std::span<const std::uint8_t> strings;
        for (const ElfSection& other : sections) {
            if (elf_ndxscn(other.handle) == section.header.sh_link) strings = section_bytes(other);
        }
        // A hostile chain may loop: there cannot be more definitions than bytes.
        std::uint64_t offset = 0;
        for (std::size_t left = data == nullptr ? 0 : data->d_size / sizeof(Elf64_Verdef); left > 0; --left) {
            GElf_Verdef definition;
            GElf_Verdaux name;
            if (gelf_getverdef(data, static_cast<int>(offset), &definition) == nullptr) break;
            if (gelf_getverdaux(data, static_cast<int>(offset + definition.vd_aux), &name) != nullptr) {
                names[definition.vd_ndx & 0x7fffU] = string_at(strings, name.vda_name);
            }
            if (definition.vd_next == 0) break;
            offset += definition.vd_next;
            if (offset >= data->d_size) break;
        }
    }
    return names;
}

class SectionFlags {
  public:
    explicit SectionFlags(const std::vector<ElfSection>& sections) {
        for (const ElfSection& section : sections) {
            const std::size_t index = elf_ndxscn(section.handle);
            if (index >= executable_.size()) executable_.resize(index + 1, false);
            executable_[index] = (section.header.sh_flags & SHF_EXECINSTR) != 0;
        }
    }
    bool exists(std::size_t index) const { return index < executable_.size(); }
    bool executable(std::size_t index) const { return exists(index) && executable_[index]; }

  private:
    std::vector<bool> executable_;
};

/// The kind of an entry, or nothing where it is none of ours (sections, files, thread-local data).
std::optional<SymbolKind> kind_of(const GElf_Sym& entry, bool executable) {
    switch (GELF_ST_TYPE(entry.st_info)) {
        case STT_FUNC:
            return SymbolKind::function;
        case STT_GNU_IFUNC:
            return SymbolKind::ifunc;
        case STT_OBJECT:
        case STT_COMMON:
            return SymbolKind::data;
        case STT_NOTYPE:
            return executable ? SymbolKind::label : SymbolKind::data;
        default:
            return std::nullopt;
    }
}

SymbolBinding binding_of(const GElf_Sym& entry) {
    switch (GELF_ST_BIND(entry.st_info)) {
        case STB_LOCAL:
            return SymbolBinding::local;
        case STB_WEAK:
            return SymbolBinding::weak;
        default:
            return SymbolBinding::global;
    }
}

/// "name@@VERSION" and "name@VERSION", as the static table of a library has them.
void split_version(Symbol& symbol) {
    const std::size_t at = symbol.name.find('@');
    if (at == std::string_view::npos || at == 0) return;
    symbol.version = symbol.name.substr(at + 1);
    symbol.name = symbol.name.substr(0, at);
    if (!symbol.version.empty() && symbol.version.front() == '@') {
        symbol.version.remove_prefix(1);
        symbol.default_version = true;
    }
}

class VersionTable {
  public:
    explicit VersionTable(const std::vector<ElfSection>& sections) : names_{read_version_names(sections)} {
        for (const ElfSection& section : sections) {
            if (section.header.sh_type == SHT_GNU_versym) indices_ = elf_getdata(section.handle, nullptr);
        }
    }
    void apply(std::size_t index, Symbol& symbol) const {
        constexpr unsigned kHidden = 0x8000;
        constexpr unsigned kFirstNamed = 2;  // 0 is local, 1 is the unversioned global
        GElf_Versym version = 0;
        if (indices_ == nullptr || gelf_getversym(indices_, static_cast<int>(index), &version) == nullptr) {
            return;
        }
        const unsigned number = version & ~kHidden;
        const auto found = names_.find(number);
        if (number < kFirstNamed || found == names_.end()) return;
        symbol.version = found->second;
        symbol.default_version = (version & kHidden) == 0;
    }

  private:
    std::unordered_map<unsigned, std::string_view> names_;
    Elf_Data* indices_ = nullptr;
};

}  // namespace

std::vector<Symbol> read_symbols(const ElfImage& image, std::uint32_t type) {
    std::vector<Symbol> symbols;
    const auto sections = read_sections(image);
    const auto table = open_table(image, type, sections);
    if (!table) return symbols;
    const SectionFlags flags{sections};
    const VersionTable versions{type == SHT_DYNSYM ? sections : std::vector<ElfSection>{}};
    symbols.reserve(table->count);
    std::string_view file;
    for (std::size_t index = 1; index < table->count; ++index) {
        GElf_Sym entry;
        Elf32_Word extended = 0;
        if (gelf_getsymshndx(table->symbols, table->extended_indices, static_cast<int>(index), &entry,
                             &extended) == nullptr) {
            continue;
        }
        if (GELF_ST_TYPE(entry.st_info) == STT_FILE) {
            file = string_at(table->strings, entry.st_name);
            continue;
        }
        const std::size_t section = entry.st_shndx == SHN_XINDEX ? extended : entry.st_shndx;
        if (section == SHN_UNDEF || !flags.exists(section)) continue;
        const auto kind = kind_of(entry, flags.executable(section));
        if (!kind) continue;
        Symbol symbol;
        symbol.name = string_at(table->strings, entry.st_name);
        symbol.address = entry.st_value;
        symbol.size = entry.st_size;
        symbol.kind = *kind;
        symbol.binding = binding_of(entry);
        symbol.exported = type == SHT_DYNSYM;
        if (symbol.binding == SymbolBinding::local) symbol.source_file = file;
        if (type == SHT_DYNSYM) versions.apply(index, symbol);
        split_version(symbol);
        if (!symbol.name.empty()) symbols.push_back(symbol);
    }
    return symbols;
}

std::vector<std::string> read_imports(const ElfImage& image) {
    std::vector<std::string> names;
    const auto sections = read_sections(image);
    const auto table = open_table(image, SHT_DYNSYM, sections);
    if (!table) return names;
    for (std::size_t index = 1; index < table->count; ++index) {
        GElf_Sym entry;
        if (gelf_getsym(table->symbols, static_cast<int>(index), &entry) == nullptr) continue;
        const unsigned type = GELF_ST_TYPE(entry.st_info);
        if (entry.st_shndx != SHN_UNDEF || (type != STT_FUNC && type != STT_NOTYPE)) continue;
        const std::string_view name = string_at(table->strings, entry.st_name);
        if (!name.empty()) names.emplace_back(name);
    }
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::vector<std::string> read_dynamic_strings(const ElfImage& image, std::int64_t tag) {
    std::vector<std::string> strings;
    const auto sections = read_sections(image);
    for (const ElfSection& section : sections) {
        if (section.header.sh_type != SHT_DYNAMIC || section.header.sh_entsize == 0) continue;
        Elf_Data* data = elf_getdata(section.handle, nullptr);
        if (data == nullptr) continue;
        GElf_Dyn entry;
        for (int index = 0; gelf_getdyn(data, index, &entry) != nullptr && entry.d_tag != DT_NULL; ++index) {
            if (entry.d_tag != tag) continue;
            for (const ElfSection& other : sections) {
                if (elf_ndxscn(other.handle) == section.header.sh_link)
                    strings.emplace_back(string_at(section_bytes(other), entry.d_un.d_val));
            }
        }
    }
    return strings;
}

std::string read_soname(const ElfImage& image) {
    const auto names = read_dynamic_strings(image, DT_SONAME);
    return names.empty() ? std::string{} : names.front();
}

}  // namespace rdam
