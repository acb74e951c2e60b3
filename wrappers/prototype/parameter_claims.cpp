#include "wrappers/prototype/parameter_claims.h"

#include <dwarf.h>

#include <algorithm>
#include <string_view>

#include "wrappers/prototype/locations.h"
#include "wrappers/prototype/type_layout.h"
#include "wrappers/prototype/type_text.h"
#include "wrappers/prototype/type_walk.h"

namespace rdam {
namespace {

using Where = ParameterClaim::Where;
using Base = ParameterClaim::Base;

constexpr unsigned kRbpNumber = 6;
constexpr unsigned kRspNumber = 7;
constexpr unsigned kGnuBias = 0x2305;  // DW_AT_GNU_bias
constexpr int kDeepestRange = 16;

std::string_view name_of_die(Dwarf_Die die) {
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(&die, DW_AT_name, &attribute) == nullptr) return {};
    const char* text = dwarf_formstring(&attribute);
    return text == nullptr ? std::string_view{} : std::string_view{text};
}

/// Numbers that stand for others: Ada's fixed-point types in the encoding of older GNATs, Pascal's
/// fixed-point money.
bool is_scaled(Dwarf_Die type) {
    const std::string_view name = name_of_die(type);
    return name.find("___X") != std::string_view::npos || name == "CURRENCY" || name == "Currency";
}

/// Ranges (Ada, Pascal) are passed as what they are a part of.
std::optional<ScalarType> value_of_type(Dwarf_Die type) {
    std::optional<std::uint64_t> size;
    for (int depth = 0; depth < kDeepestRange; ++depth) {
        const auto bare = peel(type);
        if (!bare || is_scaled(type) || is_scaled(bare->die)) return std::nullopt;
        type = bare->die;
        if (bare->tag != DW_TAG_subrange_type) break;
        Dwarf_Die range = type;
        if (dwarf_hasattr(&range, kGnuBias) != 0) return std::nullopt;
        if (!size) size = unsigned_attribute(range, DW_AT_byte_size);
        if (!type_of(range, type)) return std::nullopt;
    }
    auto scalar = layout_of(type).scalar;
    if (!scalar || !size || *size == scalar->size) return scalar;
    const bool is_power = *size == 1 || *size == 2 || *size == 4 || *size == 8;
    if (!is_power || scalar->kind == ValueKind::floating) return std::nullopt;
    scalar->size = static_cast<std::uint8_t>(*size);
    return scalar;
}

/// Compilers that give a register for a parameter's whole life only where it is there all the time.
bool limits_registers(Dwarf_Die function) {
    Dwarf_Die unit;
    Dwarf_Attribute attribute;
    if (dwarf_diecu(&function, &unit, nullptr, nullptr) == nullptr ||
        dwarf_attr(&unit, DW_AT_producer, &attribute) == nullptr)
        return false;
    const char* text = dwarf_formstring(&attribute);
    const std::string_view producer = text == nullptr ? "" : text;
    return producer.starts_with("GNU ") || producer.find("LLVM") != std::string_view::npos;
}

class ClaimReader {
  public:
    ClaimReader(Dwarf_Die function, std::uint64_t first_instruction)
        : function_{function}, first_{first_instruction}, limits_registers_{limits_registers(function)} {}

    ParameterClaim read(Dwarf_Die parameter) const {
        ParameterClaim claim;
        claim.name = name_of_die(parameter);
        Dwarf_Die type;
        const bool typed = type_of(parameter, type);
        if (typed) {
            claim.type = type_text(type);
            claim.scalar = value_of_type(type);
        }
        claim.size = claim.scalar ? claim.scalar->size : 0;
        if (const auto bare = typed ? peel(type) : std::nullopt; bare && !claim.scalar)
            claim.size = std::max<std::uint64_t>(bare->size, 1);
        const Location location = location_on_entry(parameter, first_);
        if (read_registers(location, claim)) return claim;
        read_frame(location, claim);
        return claim;
    }

  private:
    /// Whether it is in registers, or at an address in one.
    bool read_registers(const Location& location, ParameterClaim& claim) const {
        if (location.count == 0) return false;
        const Dwarf_Op& first = location.operations[0];
        const bool timed = location.of_addresses || limits_registers_;
        if (const auto reg = address_register_of(first);
            location.count == 1 && reg && *reg != kRbpNumber && *reg != kRspNumber) {
            claim.registers = {*reg};
            claim.where = timed ? Where::at_entry : Where::somewhere;
            refer(claim);
            return true;
        }
        for (std::size_t index = 0; index < location.count; ++index) {
            if (const auto reg = register_of(location.operations[index])) claim.registers.push_back(*reg);
        }
        if (claim.registers.empty()) return false;
        // In parts: a structure, whose registers are no other parameter's.
        const bool whole = location.count == 1;
        if (!whole) claim.scalar.reset();
        claim.where = timed ? Where::at_entry : whole ? Where::somewhere : Where::nowhere;
        return true;
    }

    void read_frame(const Location& location, ParameterClaim& claim) const {
        if (location.count == 0 || location.count > 2) return;
        const Dwarf_Op& first = location.operations[0];
        const bool refers = location.count == 2 && location.operations[1].atom == DW_OP_deref;
        if (location.count == 2 && !refers) return;
        claim.offset = static_cast<std::int64_t>(first.number);
        if (first.atom == DW_OP_fbreg) {
            const auto base = frame_base();
            // The stack pointer is not yet where it will be.
            if (!base || (*base == Base::rsp && location.of_addresses)) return;
            claim.base = *base;
        } else if (first.atom == DW_OP_breg0 + kRbpNumber) {
            claim.base = Base::rbp;
        } else if (first.atom == DW_OP_breg0 + kRspNumber && !location.of_addresses) {
            claim.base = Base::rsp;
        } else {
            return;
        }
        claim.where = Where::in_frame;
        if (refers) refer(claim);
    }

    std::optional<Base> frame_base() const {
        const Location base = location_at(function_, DW_AT_frame_base, first_);
        if (base.count != 1) return std::nullopt;
        if (base.operations[0].atom == DW_OP_call_frame_cfa) return Base::canonical_frame_address;
        auto reg = register_of(base.operations[0]);
        if (!reg) reg = address_register_of(base.operations[0]);
        if (reg == kRbpNumber) return Base::rbp;
        if (reg == kRspNumber) return Base::rsp;
        return std::nullopt;
    }

    static void refer(ParameterClaim& claim) {
        claim.type += '&';
        claim.scalar = ScalarType{ValueKind::pointer, 8};
        claim.size = 8;
    }

    Dwarf_Die function_;
    std::uint64_t first_;
    bool limits_registers_;
};

}  // namespace

std::vector<ParameterClaim> parameter_claims(Dwarf_Die function, std::uint64_t first_instruction,
                                             const std::vector<Dwarf_Die>& parameters) {
    const ClaimReader reader{function, first_instruction};
    std::vector<ParameterClaim> claims;
    claims.reserve(parameters.size());
    for (const Dwarf_Die& parameter : parameters)
        claims.push_back(reader.read(parameter));
    return claims;
}

}  // namespace rdam
