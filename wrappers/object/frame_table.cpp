#include "wrappers/object/frame_table.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace rdam {

namespace {

/// The 'R' of a CIE's augmentation: how its FDEs encode addresses. Nothing where the augmentation is not
/// understood.
std::optional<std::uint8_t> address_encoding(const Dwarf_CIE& cie, bool is_64_bit) {
    std::string_view letters = cie.augmentation == nullptr ? "" : cie.augmentation;
    if (letters.empty()) return std::uint8_t{DW_EH_PE_absptr};
    if (letters.front() != 'z' || cie.augmentation_data == nullptr) return std::nullopt;
    const std::uint8_t* data = cie.augmentation_data;
    const std::uint8_t* const end = data + cie.augmentation_data_size;
    for (const char letter : letters.substr(1)) {
        if (data >= end && letter != 'S' && letter != 'B') return std::nullopt;
        if (letter == 'R') return *data;
        if (letter == 'L') ++data;
        if (letter == 'P') {
            const unsigned format = *data++ & 0x0fU;
            const bool wide = format == DW_EH_PE_udata8 || format == DW_EH_PE_sdata8 ||
                              (format == DW_EH_PE_absptr && is_64_bit);
            const bool narrow = format == DW_EH_PE_udata2 || format == DW_EH_PE_sdata2;
            data += wide ? 8 : narrow ? 2 : 4;
        }
    }
    return std::uint8_t{DW_EH_PE_absptr};
}

}  // namespace

FrameTable FrameTable::read(const ElfImage& image, const std::vector<ElfSection>& sections) {
    FrameTable table;
    std::vector<std::pair<CodeRange, FramePlace>> found;
    const auto* identity = reinterpret_cast<const unsigned char*>(elf_getident(image.handle(), nullptr));
    const bool is_64_bit = image.header().e_ident[EI_CLASS] == ELFCLASS64;
    for (const ElfSection& section : sections) {
        if (section.name != ".eh_frame" || section.header.sh_type == SHT_NOBITS) continue;
        Elf_Data* data = elf_rawdata(section.handle, nullptr);
        if (data == nullptr || data->d_buf == nullptr || identity == nullptr) continue;
        const EncodedPointers pointers{section_bytes(section), section.header.sh_addr, is_64_bit};
        std::unordered_map<Dwarf_Off, std::uint8_t> encodings;
        Dwarf_CFI_Entry entry;
        Dwarf_Off next = 0;
        for (Dwarf_Off offset = 0;; offset = next) {
            const int status = dwarf_next_cfi(identity, data, true, offset, &next, &entry);
            if (status > 0 || next <= offset || next == static_cast<Dwarf_Off>(-1)) break;
            if (status < 0) continue;
            if (dwarf_cfi_cie_p(&entry)) {
                if (const auto encoding = address_encoding(entry.cie, is_64_bit))
                    encodings[offset] = *encoding;
                continue;
            }
            const auto encoding = encodings.find(entry.fde.CIE_pointer);
            if (encoding == encodings.end()) continue;
            const std::uint8_t* position = entry.fde.start;
            const auto begin = pointers.read(position, encoding->second);
            const auto size = pointers.read(position, encoding->second & 0x0fU);
            if (!begin || !size || *size == 0 || *begin + *size < *begin) continue;
            found.push_back(
                {{*begin, *begin + *size}, {static_cast<std::size_t>(&section - sections.data()), offset}});
        }
    }
    std::ranges::sort(found, [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
    table.ranges_.reserve(found.size());
    table.places_.reserve(found.size());
    for (const auto& [range, place] : found) {
        table.ranges_.push_back(range);
        table.places_.push_back(place);
    }
    return table;
}

std::size_t FrameTable::index_of(std::uint64_t address) const {
    auto after = std::ranges::upper_bound(ranges_, address, {}, &CodeRange::begin);
    if (after == ranges_.begin() || !std::prev(after)->contains(address)) return ranges_.size();
    return static_cast<std::size_t>(std::prev(after) - ranges_.begin());
}

std::optional<CodeRange> FrameTable::find(std::uint64_t address) const {
    const std::size_t index = index_of(address);
    return index < ranges_.size() ? std::optional{ranges_[index]} : std::nullopt;
}

std::optional<FramePlace> FrameTable::place_of(std::uint64_t address) const {
    const std::size_t index = index_of(address);
    return index < ranges_.size() ? std::optional{places_[index]} : std::nullopt;
}

std::optional<CodeRange> FrameTable::next(std::uint64_t address) const {
    auto after = std::ranges::upper_bound(ranges_, address, {}, &CodeRange::begin);
    return after == ranges_.end() ? std::nullopt : std::optional{*after};
}

std::optional<std::uint64_t> EncodedPointers::read(const std::uint8_t*& position,
                                                   std::uint8_t encoding) const {
    const std::uint8_t* const start = position;
    auto value = read_value(position, encoding & 0x0fU);
    if (!value) return std::nullopt;
    switch (encoding & 0x70U) {
        case DW_EH_PE_absptr:
            return value;
        case DW_EH_PE_pcrel:
            return *value + address_ + static_cast<std::uint64_t>(start - section_.data());
        default:
            return std::nullopt;
    }
}

template <class T>
std::optional<std::uint64_t> EncodedPointers::fixed(const std::uint8_t*& position) const {
    if (section_.data() + section_.size() - position < static_cast<std::ptrdiff_t>(sizeof(T)))
        return std::nullopt;
    T value;
    std::memcpy(&value, position, sizeof value);
    position += sizeof value;
    return static_cast<std::uint64_t>(value);
}

std::optional<std::uint64_t> EncodedPointers::read_value(const std::uint8_t*& position,
                                                         unsigned format) const {
    switch (format) {
        case DW_EH_PE_absptr:
            return is_64_bit_ ? fixed<std::uint64_t>(position) : fixed<std::uint32_t>(position);
        case DW_EH_PE_udata2:
            return fixed<std::uint16_t>(position);
        case DW_EH_PE_udata4:
            return fixed<std::uint32_t>(position);
        case DW_EH_PE_udata8:
        case DW_EH_PE_sdata8:
            return fixed<std::uint64_t>(position);
        case DW_EH_PE_sdata2:
            return fixed<std::int16_t>(position);
        case DW_EH_PE_sdata4:
            return fixed<std::int32_t>(position);
        default:
            return std::nullopt;
    }
}

}  // namespace rdam
