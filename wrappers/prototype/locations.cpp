#include "wrappers/prototype/locations.h"

#include <dwarf.h>

namespace rdam {
namespace {

bool is_list(Dwarf_Attribute& attribute) {
    switch (dwarf_whatform(&attribute)) {
        case DW_FORM_exprloc:
        case DW_FORM_block:
        case DW_FORM_block1:
        case DW_FORM_block2:
        case DW_FORM_block4:
            return false;
        default:
            return true;
    }
}

}  // namespace

Location location_at(Dwarf_Die die, unsigned attribute_name, std::uint64_t address) {
    Location location;
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(&die, attribute_name, &attribute) == nullptr) return location;
    if (dwarf_getlocation_addr(&attribute, address, &location.operations, &location.count, 1) != 1) return {};
    location.of_addresses = is_list(attribute);
    return location;
}

Location location_on_entry(Dwarf_Die parameter, std::uint64_t first_instruction) {
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(&parameter, DW_AT_location, &attribute) == nullptr) return {};
    Location location;
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    std::ptrdiff_t offset = 0;
    while ((offset = dwarf_getlocations(&attribute, offset, &base, &begin, &end, &location.operations,
                                        &location.count)) > 0) {
        if (begin != first_instruction) continue;
        location.of_addresses = true;
        return location;
    }
    return location_at(parameter, DW_AT_location, first_instruction);
}

std::optional<unsigned> register_of(const Dwarf_Op& operation) {
    if (operation.atom >= DW_OP_reg0 && operation.atom <= DW_OP_reg31) return operation.atom - DW_OP_reg0;
    if (operation.atom == DW_OP_regx) return static_cast<unsigned>(operation.number);
    return std::nullopt;
}

std::optional<unsigned> address_register_of(const Dwarf_Op& operation) {
    if (operation.atom == DW_OP_bregx && operation.number2 == 0)
        return static_cast<unsigned>(operation.number);
    const bool based = operation.atom >= DW_OP_breg0 && operation.atom <= DW_OP_breg31;
    if (!based || operation.number != 0) return std::nullopt;
    return operation.atom - DW_OP_breg0;
}

}  // namespace rdam
