#include "wrappers/object/elf_repair.h"

#include <elf.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

namespace rdam {
namespace {

constexpr std::size_t kMaxSections = std::size_t{1} << 20;
constexpr std::uint64_t kLargestSection = std::uint64_t{4} << 30;

/// A file whose every part may be missing or wrong.
class Bytes {
  public:
    explicit Bytes(std::span<const char> bytes) : bytes_{bytes} {}

    std::span<const char> all() const { return bytes_; }

    std::span<const char> part(std::uint64_t offset, std::uint64_t size) const {
        if (offset > bytes_.size() || size > bytes_.size() - offset) return {};
        return bytes_.subspan(offset, size);
    }
    template <class T>
    std::optional<T> read(std::uint64_t offset) const {
        const auto bytes = part(offset, sizeof(T));
        if (bytes.empty()) return std::nullopt;
        T value;
        std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }
    template <class T>
    std::vector<T> read_all(std::uint64_t offset, std::size_t count, std::size_t size_of_each) const {
        std::vector<T> values;
        if (size_of_each != sizeof(T)) return values;
        for (std::size_t index = 0; index < count; ++index) {
            const auto value = read<T>(offset + index * sizeof(T));
            if (!value) break;
            values.push_back(*value);
        }
        return values;
    }

  private:
    std::span<const char> bytes_;
};

void append(std::vector<char>& file, std::span<const char> bytes) {
    constexpr std::size_t kAlignment = 16;
    file.resize((file.size() + kAlignment - 1) / kAlignment * kAlignment);
    file.insert(file.end(), bytes.begin(), bytes.end());
}

template <class T>
std::span<const char> bytes_of(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::optional<std::vector<char>> decompressed(std::span<const char> input, std::uint64_t size) {
    // Debug information becomes some tenth of its size; what claims to become far less is not any.
    constexpr std::uint64_t kMaxToOne = 256;
    constexpr std::uint64_t kSmall = std::uint64_t{1} << 20;
    if (size > kLargestSection || size > input.size() * kMaxToOne + kSmall) return std::nullopt;
    std::vector<char> output(size);
    const std::size_t got = ZSTD_decompress(output.data(), output.size(), input.data(), input.size());
    if (ZSTD_isError(got) != 0 || got != size) return std::nullopt;
    return output;
}

/// The file with what is compressed with Zstandard at its end, decompressed.
std::optional<std::vector<char>> with_plain_sections(const Bytes& bytes, const Elf64_Ehdr& header) {
    const std::size_t count = header.e_shnum;
    auto sections = bytes.read_all<Elf64_Shdr>(header.e_shoff, count, header.e_shentsize);
    std::vector<char> file;
    for (Elf64_Shdr& section : sections) {
        if ((section.sh_flags & SHF_COMPRESSED) == 0 || section.sh_type == SHT_NOBITS) continue;
        const auto compression = bytes.read<Elf64_Chdr>(section.sh_offset);
        if (!compression || compression->ch_type != ELFCOMPRESS_ZSTD || section.sh_size < sizeof(Elf64_Chdr))
            continue;
        const auto content = decompressed(
            bytes.part(section.sh_offset + sizeof(Elf64_Chdr), section.sh_size - sizeof(Elf64_Chdr)),
            compression->ch_size);
        if (!content) continue;
        if (file.empty()) file.assign(bytes.all().begin(), bytes.all().end());
        append(file, *content);
        section.sh_offset = file.size() - content->size();
        section.sh_size = content->size();
        section.sh_flags &= ~std::uint64_t{SHF_COMPRESSED};
        section.sh_addralign = compression->ch_addralign;
    }
    if (file.empty()) return std::nullopt;
    std::memcpy(file.data() + header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr));
    return file;
}

/// Makes section headers of what the loader reads.
class SectionMaker {
  public:
    SectionMaker(const Bytes& bytes, const Elf64_Ehdr& header)
        : bytes_{bytes},
          header_{header},
          segments_{bytes.read_all<Elf64_Phdr>(header.e_phoff, header.e_phnum, header.e_phentsize)} {}

    std::optional<std::vector<char>> make() {
        file_.assign(bytes_.all().begin(), bytes_.all().end());
        add("", Elf64_Shdr{});
        for (const Elf64_Phdr& segment : segments_)
            if (segment.p_type == PT_LOAD) add_segment(segment);
        if (sections_.size() == 1) return std::nullopt;
        read_dynamic();
        add_dynamic();
        add_unwind_tables();
        finish();
        return std::move(file_);
    }

  private:
    std::size_t add(std::string_view name, Elf64_Shdr section) {
        section.sh_name = static_cast<Elf64_Word>(names_.size());
        names_.append(name).append(1, '\0');
        sections_.push_back(section);
        return sections_.size() - 1;
    }

    void add_segment(const Elf64_Phdr& segment) {
        const bool code = (segment.p_flags & PF_X) != 0;
        const bool writable = (segment.p_flags & PF_W) != 0;
        Elf64_Shdr section{};
        section.sh_type = SHT_PROGBITS;
        section.sh_flags = SHF_ALLOC;
        if (code) section.sh_flags |= SHF_EXECINSTR;
        if (writable) section.sh_flags |= SHF_WRITE;
        section.sh_addr = segment.p_vaddr;
        section.sh_offset = segment.p_offset;
        section.sh_size = segment.p_filesz;
        section.sh_addralign = 1;
        add(code ? ".text" : writable ? ".data" : ".rodata", section);
    }

    /// Where the bytes at a link-time address are in the file.
    std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
        for (const Elf64_Phdr& segment : segments_)
            if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
                address - segment.p_vaddr < segment.p_filesz)
                return segment.p_offset + (address - segment.p_vaddr);
        return std::nullopt;
    }

    void read_dynamic() {
        for (const Elf64_Phdr& segment : segments_) {
            if (segment.p_type != PT_DYNAMIC) continue;
            dynamic_ = segment;
            const std::size_t count = segment.p_filesz / sizeof(Elf64_Dyn);
            for (const Elf64_Dyn& entry :
                 bytes_.read_all<Elf64_Dyn>(segment.p_offset, count, sizeof(Elf64_Dyn))) {
                if (entry.d_tag == DT_NULL) break;
                values_.emplace(entry.d_tag, entry.d_un.d_val);
            }
        }
    }

    std::uint64_t value(std::int64_t tag) const {
        const auto found = values_.find(tag);
        return found == values_.end() ? 0 : found->second;
    }

    /// A part of the file that an entry of the dynamic table points to.
    std::optional<Elf64_Shdr> section_at(std::int64_t tag, std::uint32_t type, std::uint64_t size,
                                         std::uint64_t size_of_each) const {
        const auto offset = value(tag) == 0 ? std::nullopt : offset_of(value(tag));
        if (!offset || size == 0 || bytes_.part(*offset, size).empty()) return std::nullopt;
        Elf64_Shdr section{};
        section.sh_type = type;
        section.sh_flags = SHF_ALLOC;
        section.sh_addr = value(tag);
        section.sh_offset = *offset;
        section.sh_size = size;
        section.sh_addralign = 8;
        section.sh_entsize = size_of_each;
        return section;
    }

    /// No entry of the dynamic table says how many symbols there are, but the tables by which they are looked
    /// up do.
    std::size_t symbol_count() const {
        if (const auto offset = value(DT_HASH) == 0 ? std::nullopt : offset_of(value(DT_HASH))) {
            if (const auto chains = bytes_.read<std::uint32_t>(*offset + sizeof(std::uint32_t)))
                return *chains;
        }
        const auto offset = value(DT_GNU_HASH) == 0 ? std::nullopt : offset_of(value(DT_GNU_HASH));
        return offset ? symbol_count_by_gnu_hash(*offset) : 0;
    }

    std::size_t symbol_count_by_gnu_hash(std::uint64_t table) const {
        constexpr std::uint64_t kWord = sizeof(std::uint32_t);
        const auto header = bytes_.read_all<std::uint32_t>(table, 4, kWord);
        if (header.size() < 4) return 0;
        const std::uint64_t first_symbol = header[1];
        const std::uint64_t buckets_at = table + 4 * kWord + std::uint64_t{header[2]} * sizeof(std::uint64_t);
        std::uint64_t last = 0;
        for (const std::uint32_t bucket : bytes_.read_all<std::uint32_t>(buckets_at, header[0], kWord))
            last = std::max<std::uint64_t>(last, bucket);
        if (last < first_symbol || last == 0) return first_symbol;
        const std::uint64_t chains_at = buckets_at + header[0] * kWord;
        // The last of a chain has its lowest bit set.
        for (;; ++last) {
            const auto hash = bytes_.read<std::uint32_t>(chains_at + (last - first_symbol) * kWord);
            if (!hash) return last;
            if ((*hash & 1U) != 0) return last + 1;
        }
    }

    void add_dynamic() {
        const auto strings = section_at(DT_STRTAB, SHT_STRTAB, value(DT_STRSZ), 0);
        if (!strings) return;
        const auto strings_index = static_cast<Elf64_Word>(add(".dynstr", *strings));
        const auto add_linked = [&](std::string_view name, std::optional<Elf64_Shdr> section,
                                    std::uint32_t link, std::uint32_t info = 0) {
            if (!section) return std::uint32_t{0};
            section->sh_link = link;
            section->sh_info = info;
            return static_cast<std::uint32_t>(add(name, *section));
        };
        Elf64_Shdr dynamic{};
        dynamic.sh_type = SHT_DYNAMIC;
        dynamic.sh_flags = SHF_ALLOC;
        dynamic.sh_addr = dynamic_.p_vaddr;
        dynamic.sh_offset = dynamic_.p_offset;
        dynamic.sh_size = dynamic_.p_filesz;
        dynamic.sh_entsize = sizeof(Elf64_Dyn);
        dynamic.sh_addralign = 8;
        add_linked(".dynamic", dynamic, strings_index);
        const std::size_t count = symbol_count();
        const auto symbols = section_at(DT_SYMTAB, SHT_DYNSYM, count * sizeof(Elf64_Sym), sizeof(Elf64_Sym));
        if (!symbols) return;
        const auto symbols_index = add_linked(".dynsym", copy_of_symbols(*symbols, count), strings_index, 1);
        add_linked(".gnu.version",
                   section_at(DT_VERSYM, SHT_GNU_versym, count * sizeof(Elf64_Half), sizeof(Elf64_Half)),
                   symbols_index);
        if (const auto offset = offset_of(value(DT_VERDEF)); offset && value(DT_VERDEF) != 0) {
            // How long it is follows from its links, which its reader follows.
            const std::uint64_t most = bytes_.all().size() - *offset;
            const auto rest = std::min<std::uint64_t>(most, value(DT_VERDEFNUM) * 4096);
            add_linked(".gnu.version_d", section_at(DT_VERDEF, SHT_GNU_verdef, rest, 0), strings_index,
                       static_cast<std::uint32_t>(value(DT_VERDEFNUM)));
        }
        add_linked(".rela.dyn", section_at(DT_RELA, SHT_RELA, value(DT_RELASZ), sizeof(Elf64_Rela)),
                   symbols_index);
    }

    /// With the numbers that the sections have now.
    Elf64_Shdr copy_of_symbols(Elf64_Shdr section, std::size_t count) {
        auto symbols = bytes_.read_all<Elf64_Sym>(section.sh_offset, count, sizeof(Elf64_Sym));
        for (Elf64_Sym& symbol : symbols) {
            if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE) continue;
            symbol.st_shndx = SHN_ABS;
            for (std::size_t index = 1; index < sections_.size(); ++index) {
                const Elf64_Shdr& other = sections_[index];
                if (other.sh_type == SHT_PROGBITS && symbol.st_value >= other.sh_addr &&
                    symbol.st_value - other.sh_addr < other.sh_size)
                    symbol.st_shndx = static_cast<Elf64_Section>(index);
            }
        }
        append(file_, bytes_of(symbols));
        section.sh_size = bytes_of(symbols).size();
        section.sh_offset = file_.size() - section.sh_size;
        section.sh_flags = 0;
        section.sh_addr = 0;
        return section;
    }

    /// The segment with the table for looking up frames says where these are, relative to itself.
    void add_unwind_tables() {
        constexpr std::uint8_t kRelative = 0x1b;  // DW_EH_PE_pcrel | DW_EH_PE_sdata4
        for (const Elf64_Phdr& segment : segments_) {
            if (segment.p_type != PT_GNU_EH_FRAME) continue;
            const auto encoding = bytes_.read<std::uint8_t>(segment.p_offset + 1);
            const auto distance = bytes_.read<std::int32_t>(segment.p_offset + 4);
            if (!encoding || *encoding != kRelative || !distance) return;
            const std::uint64_t address =
                segment.p_vaddr + 4 + static_cast<std::uint64_t>(std::int64_t{*distance});
            for (const Elf64_Phdr& around : segments_) {
                if (around.p_type != PT_LOAD || address < around.p_vaddr ||
                    address - around.p_vaddr >= around.p_filesz)
                    continue;
                Elf64_Shdr section{};
                section.sh_type = SHT_PROGBITS;
                section.sh_flags = SHF_ALLOC;
                section.sh_addr = address;
                section.sh_offset = around.p_offset + (address - around.p_vaddr);
                section.sh_size = around.p_filesz - (address - around.p_vaddr);
                section.sh_addralign = 8;
                add(".eh_frame", section);
                return;
            }
        }
    }

    void finish() {
        Elf64_Shdr names{};
        names.sh_type = SHT_STRTAB;
        names.sh_addralign = 1;
        const std::size_t index = add(".shstrtab", names);
        append(file_, names_);
        sections_[index].sh_offset = file_.size() - names_.size();
        sections_[index].sh_size = names_.size();
        append(file_, bytes_of(sections_));
        Elf64_Ehdr header = header_;
        header.e_shoff = file_.size() - bytes_of(sections_).size();
        header.e_shnum = static_cast<Elf64_Half>(sections_.size());
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shstrndx = static_cast<Elf64_Half>(index);
        std::memcpy(file_.data(), &header, sizeof header);
    }

    const Bytes& bytes_;
    const Elf64_Ehdr& header_;
    std::vector<Elf64_Phdr> segments_;
    Elf64_Phdr dynamic_{};
    std::map<std::int64_t, std::uint64_t> values_;
    std::vector<char> file_;
    std::vector<Elf64_Shdr> sections_;
    std::string names_;
};

}  // namespace

std::optional<std::vector<char>> repaired_elf(const char* file, std::size_t size) {
    const Bytes bytes{{file, size}};
    const auto header = bytes.read<Elf64_Ehdr>(0);
    const bool known = header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
                       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB;
    if (!known) return std::nullopt;
    const bool loaded = header->e_type == ET_DYN || header->e_type == ET_EXEC;
    const bool without = header->e_shoff == 0 || bytes.part(header->e_shoff, sizeof(Elf64_Shdr)).empty();
    if (without && loaded) return SectionMaker{bytes, *header}.make();
    if (without || header->e_shnum == 0 || header->e_shnum > kMaxSections) return std::nullopt;
    return with_plain_sections(bytes, *header);
}

}  // namespace rdam
