#include "wrappers/object/encoded_pointers.h"

#include <dwarf.h>

#include <cstring>

namespace rdam {

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
