#include "wrappers/object/stack_maps.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>

namespace rdam {
namespace {

constexpr std::string_view kSection = ".llvm_stackmaps";

/// Version 3 (llvm/docs/StackMaps.rst): a header, then for each function its address, its frame's size and
/// the number of its records; then the constants and the records. Linkers put one table behind the other.
constexpr std::uint8_t kVersion = 3;
constexpr std::size_t kHeader = 16;
constexpr std::size_t kFunction = 24;
constexpr std::size_t kConstant = 8;

class StackMap {
  public:
    explicit StackMap(std::span<const std::uint8_t> bytes) : bytes_{bytes} {}

    template <class T>
    T read(std::size_t offset) const {
        T value{};
        if (offset <= bytes_.size() && bytes_.size() - offset >= sizeof value)
            std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }

    bool holds(std::size_t offset, std::size_t size) const {
        return offset <= bytes_.size() && bytes_.size() - offset >= size;
    }

    /// The offset behind the record at `offset`; 0: it is damaged.
    std::size_t behind_record(std::size_t offset) const {
        constexpr std::size_t kFixed = 16;
        constexpr std::size_t kLocation = 12;
        constexpr std::size_t kLiveOut = 4;
        if (!holds(offset, kFixed)) return 0;
        std::size_t at = offset + kFixed + kLocation * read<std::uint16_t>(offset + kFixed - 2);
        at = (at + 7) / 8 * 8;
        if (!holds(at, 4)) return 0;
        at += 4 + kLiveOut * read<std::uint16_t>(at + 2);
        at = (at + 7) / 8 * 8;
        return holds(at, 0) ? at : 0;
    }

  private:
    std::span<const std::uint8_t> bytes_;
};

/// The value of a symbol of the table that a relocation section refers to.
std::uint64_t value_of_symbol(const ObjectFile& file, const ElfSection& relocations, std::uint64_t index) {
    // The null section is not in the list.
    const std::size_t table = relocations.header.sh_link - std::size_t{1};
    if (relocations.header.sh_link == 0 || table >= file.sections().size()) return 0;
    return StackMap{section_bytes(file.sections()[table])}
        .read<Elf64_Sym>(index * sizeof(Elf64_Sym))
        .st_value;
}

/// What the dynamic linker writes into the section, by offset.
std::map<std::uint64_t, std::uint64_t> relocated_words(const ObjectFile& file, const ElfSection& target) {
    std::map<std::uint64_t, std::uint64_t> words;
    for (const ElfSection& section : file.sections()) {
        if (section.header.sh_type != SHT_RELA || (section.header.sh_flags & SHF_ALLOC) == 0) continue;
        const StackMap table{section_bytes(section)};
        for (std::size_t at = 0; table.holds(at, sizeof(Elf64_Rela)); at += sizeof(Elf64_Rela)) {
            const auto entry = table.read<Elf64_Rela>(at);
            if (!target.contains(entry.r_offset)) continue;
            auto value = static_cast<std::uint64_t>(entry.r_addend);
            const auto type = ELF64_R_TYPE(entry.r_info);
            if (type == R_X86_64_64) value += value_of_symbol(file, section, ELF64_R_SYM(entry.r_info));
            if (type == R_X86_64_64 || type == R_X86_64_RELATIVE)
                words[entry.r_offset - target.header.sh_addr] = value;
        }
    }
    return words;
}

}  // namespace

std::vector<std::uint64_t> functions_with_stack_maps(const ObjectFile& file) {
    std::vector<std::uint64_t> functions;
    for (const ElfSection& section : file.sections()) {
        if (section.name != kSection) continue;
        const StackMap table{section_bytes(section)};
        const auto relocated = relocated_words(file, section);
        for (std::size_t at = 0; table.holds(at, kHeader) && table.read<std::uint8_t>(at) == kVersion;) {
            const auto count = table.read<std::uint32_t>(at + 4);
            const auto constants = table.read<std::uint32_t>(at + 8);
            auto records = table.read<std::uint32_t>(at + 12);
            at += kHeader;
            for (std::uint32_t index = 0; index < count && table.holds(at, kFunction); ++index) {
                const auto word = relocated.find(at);
                functions.push_back(word == relocated.end() ? table.read<std::uint64_t>(at) : word->second);
                at += kFunction;
            }
            at += kConstant * constants;
            for (; records > 0 && at != 0; --records)
                at = table.behind_record(at);
            if (at == 0) break;
        }
    }
    std::sort(functions.begin(), functions.end());
    functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
    return functions;
}

}  // namespace rdam
