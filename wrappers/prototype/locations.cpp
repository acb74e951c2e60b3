#include "wrappers/prototype/locations.h"

#include <dwarf.h>

#include <algorithm>
#include <array>

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

namespace {

using Kind = ArgumentPlace::Kind;

/// DWARF's numbers: rdi, rsi, rdx, rcx, r8, r9.
constexpr std::array<unsigned, 6> kDwarfIntegers{5, 4, 1, 2, 8, 9};
constexpr unsigned kRbp = 6;
constexpr unsigned kRsp = 7;
constexpr unsigned kXmm0 = 17;
constexpr unsigned kDwarfVectors = 8;

/// From rbp to the end of the frame: the caller's rbp and the return address.
constexpr std::int64_t kFrameHead = 16;

bool carries_arguments(unsigned reg) {
    return std::ranges::find(kDwarfIntegers, reg) != kDwarfIntegers.end() ||
           (reg >= kXmm0 && reg < kXmm0 + kDwarfVectors);
}

EntryEvidence compare(unsigned reg, const ArgumentPlace& place) {
    const auto verdict = [](bool same) { return same ? EntryEvidence::agrees : EntryEvidence::contradicts; };
    switch (place.kind) {
        case Kind::integer_register:
            return verdict(place.index < kDwarfIntegers.size() && reg == kDwarfIntegers[place.index]);
        case Kind::vector_register:
            return verdict(reg == kXmm0 + place.index);
        case Kind::mixed_registers:
            return verdict(carries_arguments(reg));
        case Kind::stack:
            return EntryEvidence::contradicts;
        default:
            return EntryEvidence::silent;
    }
}

/// Nothing is passed there, in any of the conventions that gcc knows.
bool is_kept_by_callees(unsigned reg) {
    constexpr unsigned kRbx = 3;
    constexpr unsigned kR12 = 12;
    constexpr unsigned kR15 = 15;
    return reg == kRbx || reg == kRbp || (reg >= kR12 && reg <= kR15);
}

/// Bytes behind the return address, where the first argument on the stack is; nothing: not to be told.
std::optional<std::int64_t> behind_return_address(Dwarf_Die function, std::int64_t offset) {
    const Location base = location_at(function, DW_AT_frame_base, 0);
    if (base.count != 1) return std::nullopt;
    if (base.operations[0].atom == DW_OP_call_frame_cfa) return offset;
    if (register_of(base.operations[0]) == kRbp) return offset - kFrameHead;
    return std::nullopt;
}

EntryEvidence compare_frame(Dwarf_Die function, std::int64_t offset, const ArgumentPlace& place) {
    const auto behind = behind_return_address(function, offset);
    if (place.kind == Kind::stack) {
        if (!behind) return EntryEvidence::agrees;  // counted from rsp, behind pushes that are not known here
        return *behind < 0 || *behind == place.index ? EntryEvidence::agrees : EntryEvidence::contradicts;
    }
    return behind && *behind >= 0 ? EntryEvidence::contradicts : EntryEvidence::agrees;
}

}  // namespace

EntryEvidence evidence_at_entry(Dwarf_Die function, Dwarf_Die parameter, std::uint64_t first_instruction,
                                const ArgumentPlace& place, bool is_llvm) {
    const Location location = location_on_entry(parameter, first_instruction);
    if (location.count == 0) return EntryEvidence::silent;
    const Dwarf_Op& first = location.operations[0];
    const bool whole = location.count == 1 || location.operations[1].atom == DW_OP_piece;
    if (const auto reg = register_of(first); reg && whole)
        return is_kept_by_callees(*reg) && !is_llvm ? EntryEvidence::silent : compare(*reg, place);
    if (first.atom == DW_OP_fbreg && whole)
        return compare_frame(function, static_cast<std::int64_t>(first.number), place);
    if (const auto reg = address_register_of(first); reg && whole && *reg != kRsp && *reg != kRbp)
        return carries_arguments(*reg) ? compare(*reg, place) : EntryEvidence::contradicts;
    return EntryEvidence::silent;
}

}  // namespace rdam
