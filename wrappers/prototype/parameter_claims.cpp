#include "wrappers/prototype/parameter_claims.h"

#include <dwarf.h>

#include <algorithm>
#include <string_view>

#include "wrappers/prototype/locations.h"
#include "wrappers/prototype/type_layout.h"
#include "wrappers/prototype/type_walk.h"

namespace rdam {
namespace {

using ClaimedPlace = ParameterClaim::Where;
using Base = FrameBytes::Base;

constexpr unsigned kRbpNumber = 6;
constexpr unsigned kRspNumber = 7;
constexpr unsigned kGnuBias = 0x2305;  // DW_AT_GNU_bias
constexpr int kDeepestRange = 16;

/// Numbers that stand for others: Ada's fixed-point types in the encoding of older GNATs, Pascal's
/// fixed-point money.
bool is_scaled(Dwarf_Die type) {
    const std::string_view name = text_attribute(type, DW_AT_name);
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

/// Whose code it is, as far as it matters here.
struct Producer {
    bool is_gnu = false;
    bool is_llvm = false;
    bool is_rust = false;
    bool is_free_pascal = false;
    bool tells_changes = false;  ///< of signatures: LLVM does from 19 on (DW_CC_nocall)

    /// It gives a register for a parameter's whole life only where it is there all the time.
    bool limits_registers() const { return is_gnu || is_llvm; }
};

constexpr unsigned kFirstRustWithLlvm19 = 82;  // 1.82

unsigned number_behind(std::string_view text, std::string_view prefix) {
    const std::size_t at = text.find(prefix);
    unsigned number = 0;
    for (std::size_t i = at == std::string_view::npos ? text.size() : at + prefix.size(); i < text.size();
         ++i) {
        if (text[i] < '0' || text[i] > '9' || number > 1000) break;
        number = number * 10 + static_cast<unsigned>(text[i] - '0');
    }
    return number;
}

Producer producer_of(Dwarf_Die function) {
    Producer producer;
    Dwarf_Die unit;
    if (dwarf_diecu(&function, &unit, nullptr, nullptr) == nullptr) return producer;
    const std::string_view text = text_attribute(unit, DW_AT_producer);
    producer.is_gnu = text.starts_with("GNU ");
    producer.is_llvm = text.find("LLVM") != std::string_view::npos;
    producer.is_free_pascal = text.starts_with("Free Pascal");
    producer.is_rust = text.find("rustc version ") != std::string_view::npos;
    producer.tells_changes = number_behind(text, "rustc version 1.") >= kFirstRustWithLlvm19;
    return producer;
}

bool passes_scalars_by_reference(Dwarf_Die function) {
    const int language = language_of(function);
    return is_fortran(language) || language == DW_LANG_Pascal83;
}

/// The members of a structure that take space; nothing: it has other parts, too.
std::optional<std::vector<Dwarf_Die>> members_of(Dwarf_Die structure) {
    std::vector<Dwarf_Die> members;
    Dwarf_Die child;
    if (dwarf_child(&structure, &child) != 0) return members;
    do {
        const int tag = dwarf_tag(&child);
        if (tag == DW_TAG_variant_part || tag == DW_TAG_inheritance) return std::nullopt;
        if (tag != DW_TAG_member) continue;
        Dwarf_Die type;
        const auto bare = type_of(child, type) ? peel(type) : std::nullopt;
        if (!bare) return std::nullopt;
        if (bare->size != 0) members.push_back(bare->die);
    } while (dwarf_siblingof(&child, &child) == 0);
    return members;
}

/// Rust's own convention agrees with C's on structures of one value and of two words, such as pointers to
/// slices, texts and traits.
std::optional<PassedAs> passed_in_rust(Dwarf_Die type) {
    for (int depth = 0; depth < kDeepestRange; ++depth) {
        if (const auto scalar = value_of_type(type)) return passed_as(scalar->kind);
        const auto bare = peel(type);
        if (!bare) return std::nullopt;
        if (bare->tag != DW_TAG_structure_type) return std::nullopt;
        const auto members = members_of(bare->die);
        if (!members) return std::nullopt;
        if (bare->size == 0) return PassedAs{.where = PassedAs::Class::nothing};
        if (members->size() == 2 && bare->size == 16) {
            const auto first = value_of_type(members->front());
            const auto second = value_of_type(members->back());
            const bool words = first && second && first->size == 8 && second->size == 8 &&
                               first->kind != ValueKind::floating && second->kind != ValueKind::floating;
            return words ? std::optional{PassedAs{.integer_registers = 2}} : std::nullopt;
        }
        if (members->size() != 1) return std::nullopt;
        type = members->front();
    }
    return std::nullopt;
}

std::optional<PassedAs> passed_as_written(Dwarf_Die type, const Producer& producer) {
    if (const auto scalar = value_of_type(type)) return passed_as(scalar->kind);
    if (producer.is_rust) return passed_in_rust(type);
    if (!producer.is_gnu && !producer.is_llvm) return std::nullopt;
    const TypeLayout layout = layout_of(type);
    if (!layout.doubt.empty()) return std::nullopt;
    return layout.passed;
}

std::optional<bool> has_hidden_result(Dwarf_Die function, const Producer& producer) {
    constexpr std::uint64_t kLargestInRegisters = 16;
    Dwarf_Die type;
    if (!type_of(function, type)) return false;
    if (const auto scalar = value_of_type(type)) {
        // Texts and dynamic arrays are pointers there, and their results are in memory nevertheless.
        const bool managed = producer.is_free_pascal && scalar->kind == ValueKind::pointer;
        return managed ? std::nullopt : std::optional{false};
    }
    const auto bare = peel(type);
    if (!bare || producer.is_free_pascal) return std::nullopt;
    if (!producer.is_gnu && !producer.is_llvm) return std::nullopt;
    if (bare->size > kLargestInRegisters) return true;
    if (producer.is_rust && bare->size <= 8) return false;
    if (producer.is_rust) return passed_in_rust(type) ? std::optional{false} : std::nullopt;
    const TypeLayout layout = layout_of(type);
    if (!layout.doubt.empty()) return std::nullopt;
    return layout.returned == PrototypeResult::Where::hidden_pointer;
}

FunctionClaims::Signature signature_of(Dwarf_Die function, const Producer& producer) {
    using Signature = FunctionClaims::Signature;
    const bool external = has_flag(function, DW_AT_external);
    const auto convention = unsigned_attribute(function, DW_AT_calling_convention).value_or(DW_CC_normal);
    if (producer.is_gnu || producer.is_free_pascal) return Signature::kept;
    if (!producer.is_llvm) return Signature::unknown;
    if (convention != DW_CC_normal) return Signature::changed;
    return external || producer.tells_changes ? Signature::kept : Signature::unknown;
}

class ClaimReader {
  public:
    ClaimReader(Dwarf_Die function, std::uint64_t first_instruction)
        : function_{function},
          first_{first_instruction},
          producer_{producer_of(function)},
          refers_to_scalars_{passes_scalars_by_reference(function)} {}

    const Producer& producer() const { return producer_; }

    ParameterClaim read(Dwarf_Die parameter) const {
        ParameterClaim claim;
        claim.name = text_attribute(parameter, DW_AT_name);
        Dwarf_Die type;
        const bool typed = type_of(parameter, type);
        if (typed) {
            claim.type = type_text(type);
            claim.scalar = value_of_type(type);
            claim.passed = passed_as_written(type, producer_);
        }
        claim.bytes.size = claim.scalar ? claim.scalar->size : 0;
        if (const auto bare = typed ? peel(type) : std::nullopt; bare && !claim.scalar)
            claim.bytes.size = std::max<std::uint64_t>(bare->size, 1);
        const Location location = location_on_entry(parameter, first_);
        claim.for_life = location.count != 0 && !location.of_addresses;
        if (read_registers(location, claim)) return claim;
        read_frame(location, claim);
        return claim;
    }

  private:
    /// Whether it is in registers, or at an address in one.
    bool read_registers(const Location& location, ParameterClaim& claim) const {
        if (location.count == 0) return false;
        const Dwarf_Op& first = location.operations[0];
        const bool timed = location.of_addresses || producer_.limits_registers();
        if (const auto reg = address_register_of(first);
            location.count == 1 && reg && *reg != kRbpNumber && *reg != kRspNumber) {
            claim.registers = {*reg};
            claim.where = timed ? ClaimedPlace::at_entry : ClaimedPlace::somewhere;
            refer(claim);
            return true;
        }
        for (std::size_t index = 0; index < location.count; ++index) {
            if (const auto reg = used_register(location.operations[index])) claim.registers.push_back(*reg);
        }
        if (claim.registers.empty()) return false;
        // In parts (a structure), or something that is computed: what it is made of is no other parameter.
        const bool whole = location.count == 1 && register_of(first).has_value();
        if (whole) {
            claim.where = timed ? ClaimedPlace::at_entry : ClaimedPlace::somewhere;
        } else {
            claim.where = ClaimedPlace::at_entry;
            claim.scalar.reset();
        }
        return true;
    }

    static std::optional<unsigned> used_register(const Dwarf_Op& operation) {
        if (const auto reg = register_of(operation)) return reg;
        const bool based = operation.atom >= DW_OP_breg0 && operation.atom <= DW_OP_breg31;
        const unsigned reg = based ? operation.atom - DW_OP_breg0 : static_cast<unsigned>(operation.number);
        if (!based && operation.atom != DW_OP_bregx) return std::nullopt;
        return reg == kRbpNumber || reg == kRspNumber ? std::nullopt : std::optional{reg};
    }

    void read_frame(const Location& location, ParameterClaim& claim) const {
        if (location.count == 0 || location.count > 2) return;
        const Dwarf_Op& first = location.operations[0];
        const bool refers = location.count == 2 && location.operations[1].atom == DW_OP_deref;
        if (location.count == 2 && !refers) return;
        claim.bytes.offset = static_cast<std::int64_t>(first.number);
        if (first.atom == DW_OP_fbreg) {
            const auto base = frame_base();
            // The stack pointer is not yet where it will be.
            if (!base || (*base == Base::rsp && location.of_addresses)) return;
            claim.bytes.base = *base;
        } else if (first.atom == DW_OP_breg0 + kRbpNumber) {
            claim.bytes.base = Base::rbp;
        } else if (first.atom == DW_OP_breg0 + kRspNumber && !location.of_addresses) {
            claim.bytes.base = Base::rsp;
        } else {
            return;
        }
        claim.where = ClaimedPlace::in_frame;
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

    void refer(ParameterClaim& claim) const {
        // Other languages have a type for that, and an optimizing compiler may say of a variable of this type
        // that its value is still in memory (a = *b;).
        if (claim.scalar && !refers_to_scalars_) {
            claim.scalar.reset();
            return;
        }
        claim.type += '&';
        claim.scalar = ScalarType{ValueKind::pointer, 8};
        claim.passed = passed_as(ValueKind::pointer);
        claim.bytes.size = 8;
    }

    Dwarf_Die function_;
    std::uint64_t first_;
    Producer producer_;
    bool refers_to_scalars_;
};

}  // namespace

FunctionClaims parameter_claims(Dwarf_Die function, std::uint64_t first_instruction,
                                const std::vector<Dwarf_Die>& parameters) {
    const ClaimReader reader{function, first_instruction};
    FunctionClaims claims;
    claims.hidden_result = has_hidden_result(function, reader.producer());
    claims.signature = signature_of(function, reader.producer());
    claims.parameters.reserve(parameters.size());
    for (const Dwarf_Die& parameter : parameters)
        claims.parameters.push_back(reader.read(parameter));
    return claims;
}

}  // namespace rdam
