#include "wrappers/entry/instruction.h"

namespace rdam::relocation {

namespace {

/// For 64-bit code. Thread-safe.
const ZydisDecoder& decoder() {
    static const ZydisDecoder kShared = [] {
        ZydisDecoder fresh;
        ZydisDecoderInit(&fresh, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        return fresh;
    }();
    return kShared;
}

bool has_relative_operand(const ZydisDecodedInstruction& decoded) {
    return decoded.raw.imm[0].is_relative == ZYAN_TRUE;
}

bool is_short_only(ZydisMnemonic mnemonic) {
    switch (mnemonic) {
        case ZYDIS_MNEMONIC_JCXZ:
        case ZYDIS_MNEMONIC_JECXZ:
        case ZYDIS_MNEMONIC_JRCXZ:
        case ZYDIS_MNEMONIC_LOOP:
        case ZYDIS_MNEMONIC_LOOPE:
        case ZYDIS_MNEMONIC_LOOPNE:
            return true;
        default:
            return false;
    }
}

Flow call_flow(const ZydisDecodedInstruction& decoded) {
    if (decoded.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) return Flow::far_call;
    return has_relative_operand(decoded) ? Flow::call : Flow::indirect_call;
}

Flow flow_of(const ZydisDecodedInstruction& decoded) {
    if (is_short_only(decoded.mnemonic)) return Flow::short_only;
    switch (decoded.mnemonic) {
        case ZYDIS_MNEMONIC_CALL:
            return call_flow(decoded);
        case ZYDIS_MNEMONIC_JMP:
            return has_relative_operand(decoded) ? Flow::jump : Flow::end;
        case ZYDIS_MNEMONIC_UD0:
        case ZYDIS_MNEMONIC_UD1:
        case ZYDIS_MNEMONIC_UD2:
        case ZYDIS_MNEMONIC_HLT:
            return Flow::end;
        default:
            break;
    }
    if (decoded.meta.category == ZYDIS_CATEGORY_RET || decoded.meta.category == ZYDIS_CATEGORY_SYSRET)
        return Flow::end;
    return has_relative_operand(decoded) ? Flow::conditional : Flow::plain;
}

}  // namespace

std::optional<std::uint64_t> Instruction::branch_target() const {
    if (!has_relative_operand(decoded)) return std::nullopt;
    return std::uint64_t{end()} + decoded.raw.imm[0].value.u;
}

std::optional<std::uint64_t> Instruction::memory_target() const {
    const auto& raw = decoded.raw;
    const bool rip_relative = (decoded.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 && raw.modrm.mod == 0 &&
                              raw.modrm.rm == 5 && raw.disp.size == 32;
    if (!rip_relative) return std::nullopt;
    return std::uint64_t{end()} + static_cast<std::uint64_t>(raw.disp.value);
}

bool Instruction::is_atomic() const {
    constexpr unsigned kRegisterForm = 3;
    if ((decoded.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0) return true;
    return decoded.mnemonic == ZYDIS_MNEMONIC_XCHG && (decoded.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 &&
           decoded.raw.modrm.mod != kRegisterForm;
}

bool Instruction::is_nop() const {
    return decoded.mnemonic == ZYDIS_MNEMONIC_NOP;
}

bool WithOperands::decode(std::span<const std::uint8_t> code) {
    return ZYAN_SUCCESS(
        ZydisDecoderDecodeFull(&decoder(), code.data(), code.size(), &instruction, operands.data()));
}

Decoded decode_at(std::span<const std::uint8_t> body, std::uint32_t offset) {
    if (offset >= body.size()) return {std::nullopt, DecodeError::cut_off};
    const auto rest = body.subspan(offset);
    Instruction result;
    const ZyanStatus status =
        ZydisDecoderDecodeInstruction(&decoder(), nullptr, rest.data(), rest.size(), &result.decoded);
    if (ZYAN_FAILED(status))
        return {std::nullopt,
                status == ZYDIS_STATUS_NO_MORE_DATA ? DecodeError::cut_off : DecodeError::undecodable};
    result.offset = offset;
    result.bytes = rest.first(result.decoded.length);
    result.flow = flow_of(result.decoded);
    return {result, DecodeError::undecodable};
}

}  // namespace rdam::relocation
