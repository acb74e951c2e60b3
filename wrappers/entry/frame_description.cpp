#include "wrappers/entry/frame_description.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstdlib>
#include <string_view>

#include "wrappers/object/frame_table.h"

namespace rdam::unwinding {

namespace {

/// What a CIE says of the descriptions that refer to it.
struct Common {
    std::uint8_t addresses = DW_EH_PE_absptr;
    std::optional<std::uint8_t> tables;
    std::optional<FrameDescription::Personality> personality;
};

std::optional<Common> read_common(const ObjectFile& file, const EncodedPointers& pointers,
                                  const Dwarf_CIE& cie) {
    Common common;
    const std::string_view letters = cie.augmentation == nullptr ? "" : cie.augmentation;
    if (letters.empty()) return common;
    if (letters.front() != 'z' || cie.augmentation_data == nullptr) return std::nullopt;
    Cursor data{{cie.augmentation_data, cie.augmentation_data_size}};
    for (const char letter : letters.substr(1)) {
        switch (letter) {
            case 'R':
                common.addresses = data.byte();
                break;
            case 'L':
                if (const std::uint8_t encoding = data.byte(); encoding != DW_EH_PE_omit)
                    common.tables = encoding;
                break;
            case 'P': {
                const std::uint8_t encoding = data.byte();
                const std::uint8_t* position = data.at();
                const auto address = pointers.read(position, encoding);
                if (!address || !is_settled(file, encoding)) return std::nullopt;
                data.skip(static_cast<std::uint64_t>(position - data.at()));
                common.personality = {*address, (encoding & DW_EH_PE_indirect) != 0};
                break;
            }
            case 'B':
                break;
            // 'S': the frame of a signal handler, which is not called.
            default:
                return std::nullopt;
        }
    }
    return data.bad() ? std::nullopt : std::optional{common};
}

}  // namespace

bool is_settled(const ObjectFile& file, std::uint8_t encoding) {
    return (encoding & 0x70U) == DW_EH_PE_pcrel ||
           ((encoding & 0x70U) == DW_EH_PE_absptr && file.image().header().e_type == ET_EXEC);
}

std::optional<FrameDescription> frame_description(const ObjectFile& file, std::uint64_t address) {
    const auto place = file.frames().place_of(address);
    if (!place) return std::nullopt;
    const ElfSection* const section = &file.sections()[place->section];
    Elf_Data* const data = elf_rawdata(section->handle, nullptr);
    const auto* identity =
        reinterpret_cast<const unsigned char*>(elf_getident(file.image().handle(), nullptr));
    Dwarf_Off next = 0;
    Dwarf_CFI_Entry own;
    Dwarf_CFI_Entry shared;
    if (data == nullptr || identity == nullptr ||
        dwarf_next_cfi(identity, data, true, place->offset, &next, &own) != 0 || dwarf_cfi_cie_p(&own) ||
        dwarf_next_cfi(identity, data, true, own.fde.CIE_pointer, &next, &shared) != 0 ||
        !dwarf_cfi_cie_p(&shared))
        return std::nullopt;
    const EncodedPointers pointers{section_bytes(*section), section->header.sh_addr, true};
    const auto common = read_common(file, pointers, shared.cie);
    if (!common) return std::nullopt;

    FrameDescription description;
    const std::uint8_t* position = own.fde.start;
    const auto begin = pointers.read(position, common->addresses);
    const auto size = pointers.read(position, common->addresses & 0x0fU);
    if (!begin || !size || position > own.fde.end) return std::nullopt;
    description.code = {*begin, *begin + *size};
    Cursor rest{{position, own.fde.end}};
    if (shared.cie.augmentation != nullptr && *shared.cie.augmentation == 'z') {
        const std::uint64_t augmentation = rest.uleb();
        const std::uint8_t* table = rest.at();
        const std::uint64_t own_address =
            section->header.sh_addr + static_cast<std::uint64_t>(table - section_bytes(*section).data());
        rest.skip(augmentation);
        if (rest.bad()) return std::nullopt;
        if (common->tables && augmentation > 0) {
            const auto landing = pointers.read(table, *common->tables);
            if (!landing || !is_settled(file, *common->tables) || table > rest.at()) return std::nullopt;
            if ((*common->tables & DW_EH_PE_indirect) != 0) return std::nullopt;
            // A null pointer is 0 before its own address is added to it.
            const bool relative = (*common->tables & 0x70U) == DW_EH_PE_pcrel;
            description.landing_table = *landing == (relative ? own_address : 0) ? 0 : *landing;
        }
    }
    description.program = rest.rest();
    description.initial = {shared.cie.initial_instructions, shared.cie.initial_instructions_end};
    description.code_alignment = shared.cie.code_alignment_factor;
    description.data_alignment = shared.cie.data_alignment_factor;
    description.return_register = shared.cie.return_address_register;
    description.personality = common->personality;
    return description;
}

std::uint8_t Cursor::byte() {
    if (at_ == end_) {
        bad_ = true;
        return 0;
    }
    return *at_++;
}

std::uint64_t Cursor::fixed(unsigned size) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i)
        value |= std::uint64_t{byte()} << (8 * i);
    return value;
}

std::uint64_t Cursor::uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const std::uint8_t part = byte();
        value |= std::uint64_t{part & 0x7fU} << shift;
        if ((part & 0x80U) == 0) return value;
    }
    bad_ = true;
    return 0;
}

std::int64_t Cursor::sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
        const std::uint8_t part = byte();
        value |= std::uint64_t{part & 0x7fU} << shift;
        shift += 7;
        if ((part & 0x80U) != 0) continue;
        if ((part & 0x40U) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
        return static_cast<std::int64_t>(value);
    }
    bad_ = true;
    return 0;
}

void Cursor::skip(std::uint64_t size) {
    if (size > static_cast<std::uint64_t>(end_ - at_)) {
        bad_ = true;
        at_ = end_;
    } else {
        at_ += size;
    }
}

void put_fixed(Bytes& out, std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i)
        out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

void put_uleb(Bytes& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        out.push_back(static_cast<std::uint8_t>(value | 0x80U));
    out.push_back(static_cast<std::uint8_t>(value));
}

void put_sleb(Bytes& out, std::int64_t value) {
    for (; value < -64 || value >= 64; value >>= 7)
        out.push_back(static_cast<std::uint8_t>((value & 0x7f) | 0x80));
    out.push_back(static_cast<std::uint8_t>(value & 0x7f));
}

void put_padded_uleb(Bytes& out, std::uint64_t value, unsigned size) {
    for (unsigned i = 1; i < size; ++i, value >>= 7)
        out.push_back(static_cast<std::uint8_t>(value | 0x80U));
    out.push_back(static_cast<std::uint8_t>(value));
}

void put_bytes(Bytes& out, std::span<const std::uint8_t> bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace rdam::unwinding

namespace rdam {

StackRow StackRows::at(std::uint64_t address) const {
    StackRow row;
    Dwarf_Frame* frame = nullptr;
    if (dwarf_cfi_addrframe(tables_.get(), address, &frame) != 0) return row;
    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;
    dwarf_frame_info(frame, &row.code.begin, &row.code.end, nullptr);
    if (dwarf_frame_cfa(frame, &operations, &count) == 0 && count == 1 && operations[0].atom == DW_OP_bregx) {
        row.base = static_cast<unsigned>(operations[0].number);
        row.offset = static_cast<std::int64_t>(operations[0].number2);
        row.known = true;
    }
    std::free(frame);  // NOLINT(*-no-malloc): libdw says so
    return row;
}

}  // namespace rdam
