#include "tests/unit/relocate/elf_functions.h"

#include <Zydis/Zydis.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>

#include "libprobe/format/plan.h"

namespace rdam::test {
namespace {

class ElfReader {
  public:
    explicit ElfReader(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        elf_version(EV_CURRENT);
        if (fd_ >= 0) elf_ = elf_begin(fd_, ELF_C_READ_MMAP, nullptr);
    }
    ~ElfReader() {
        elf_end(elf_);
        if (fd_ >= 0) close(fd_);
    }
    ElfReader(const ElfReader&) = delete;
    ElfReader& operator=(const ElfReader&) = delete;
    ElfReader(ElfReader&&) = delete;
    ElfReader& operator=(ElfReader&&) = delete;

    Elf* get() const { return elf_; }

    Elf_Scn* section_of_type(std::uint32_t type, GElf_Shdr& header) const {
        for (Elf_Scn* scn = elf_nextscn(elf_, nullptr); scn; scn = elf_nextscn(elf_, scn))
            if (gelf_getshdr(scn, &header) && header.sh_type == type) return scn;
        return nullptr;
    }

    std::string build_id() const {
        GElf_Shdr header;
        for (Elf_Scn* scn = elf_nextscn(elf_, nullptr); scn; scn = elf_nextscn(elf_, scn)) {
            if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_NOTE) continue;
            Elf_Data* data = elf_getdata(scn, nullptr);
            GElf_Nhdr note;
            std::size_t name = 0;
            std::size_t desc = 0;
            if (!data || !gelf_getnote(data, 0, &note, &name, &desc) || note.n_type != NT_GNU_BUILD_ID)
                continue;
            std::string id;
            for (std::size_t i = 0; i < note.n_descsz; ++i)
                id += fmt::format("{:02x}", static_cast<const std::uint8_t*>(data->d_buf)[desc + i]);
            return id;
        }
        return {};
    }

  private:
    int fd_;
    Elf* elf_ = nullptr;
};

struct CodeSection {
    std::uint64_t address;
    std::span<const std::uint8_t> bytes;
};

std::vector<CodeSection> code_sections(const ElfReader& file) {
    std::vector<CodeSection> result;
    GElf_Shdr header;
    for (Elf_Scn* scn = elf_nextscn(file.get(), nullptr); scn; scn = elf_nextscn(file.get(), scn)) {
        if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_PROGBITS ||
            !(header.sh_flags & SHF_EXECINSTR))
            continue;
        if (const Elf_Data* data = elf_rawdata(scn, nullptr); data && data->d_buf)
            result.push_back({header.sh_addr, {static_cast<const std::uint8_t*>(data->d_buf), data->d_size}});
    }
    return result;
}

struct Symbol {
    std::string name;
    std::uint64_t size = 0;
};

/// By address; of several at one address the longest counts.
std::map<std::uint64_t, Symbol> function_symbols(const ElfReader& file) {
    std::map<std::uint64_t, Symbol> result;
    GElf_Shdr header;
    Elf_Scn* scn = file.section_of_type(SHT_SYMTAB, header);
    if (!scn) scn = file.section_of_type(SHT_DYNSYM, header);
    Elf_Data* data = scn ? elf_getdata(scn, nullptr) : nullptr;
    GElf_Sym symbol;
    for (int i = 0; data && gelf_getsym(data, i, &symbol); ++i) {
        const int type = GELF_ST_TYPE(symbol.st_info);
        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) continue;
        const char* name = elf_strptr(file.get(), header.sh_link, symbol.st_name);
        Symbol& entry = result[symbol.st_value];
        if (symbol.st_size >= entry.size) entry = {name ? name : "", symbol.st_size};
    }
    return result;
}

std::uint32_t padding_in(std::span<const std::uint8_t> gap) {
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisDecodedInstruction decoded;
    std::uint32_t size = 0;
    while (size < gap.size() &&
           ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, nullptr, gap.data() + size, gap.size() - size,
                                                      &decoded)) &&
           (decoded.mnemonic == ZYDIS_MNEMONIC_NOP || decoded.mnemonic == ZYDIS_MNEMONIC_INT3))
        size += decoded.length;
    return size;
}

/// What is between the symbol before and this one, if that one is long enough to need none of it.
std::span<const std::uint8_t> gap_before(const std::map<std::uint64_t, Symbol>& symbols,
                                         std::map<std::uint64_t, Symbol>::const_iterator it,
                                         const CodeSection& section) {
    if (it == symbols.begin()) return {};
    const auto& [before, symbol] = *std::prev(it);
    const std::uint64_t end = before + symbol.size;
    if (before < section.address || end > it->first || symbol.size < plan::kPatchSize) return {};
    return section.bytes.subspan(end - section.address, it->first - end);
}

}  // namespace

ElfFunctions read_functions(const std::string& path) {
    ElfFunctions result;
    const ElfReader file(path);
    if (!file.get()) return result;
    const std::string id = file.build_id();
    const std::string debug =
        id.size() < 3 ? ""
                      : fmt::format("/usr/lib/debug/.build-id/{}/{}.debug", id.substr(0, 2), id.substr(2));
    const ElfReader debug_file(debug);
    const auto symbols = function_symbols(debug_file.get() ? debug_file : file);
    const auto sections = code_sections(file);
    for (auto it = symbols.begin(); it != symbols.end(); ++it) {
        const auto& [address, symbol] = *it;
        result.addresses.push_back(address);
        for (const CodeSection& section : sections) {
            const std::uint64_t offset = address - section.address;
            if (offset >= section.bytes.size() || symbol.size == 0 ||
                symbol.size > section.bytes.size() - offset)
                continue;
            const auto body = section.bytes.subspan(offset, symbol.size);
            const auto behind = section.bytes.subspan(offset + symbol.size);
            const auto next = symbols.lower_bound(address + symbol.size);
            const std::uint64_t gap =
                next == symbols.end() ? behind.size() : next->first - (address + symbol.size);
            const auto before = gap_before(symbols, it, section);
            result.functions.push_back({symbol.name,
                                        address,
                                        {body.begin(), body.end()},
                                        padding_in(behind.first(std::min<std::uint64_t>(gap, behind.size()))),
                                        {before.begin(), before.end()}});
        }
    }
    return result;
}

}  // namespace rdam::test
