// One decoded instruction of a function, with what matters for relocating it.
#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace rdam::relocation {

enum class Flow : std::uint8_t {
    plain,          ///< goes on with the next instruction
    jump,           ///< jmp rel
    conditional,    ///< jcc rel, xbegin rel: there is a form with 32 bits
    short_only,     ///< jrcxz, loop, …: 8 bits or nothing
    call,           ///< call rel
    indirect_call,  ///< call through a register or memory
    far_call,       ///< with a segment; also interrupts that push more than an address
    end,            ///< never goes on: ret, jmp through a register or memory, ud2, hlt, …
};

/// A view into the function's bytes: valid as long as these are.
struct Instruction {
    std::uint32_t offset = 0;  ///< from the function's first byte
    std::span<const std::uint8_t> bytes;
    ZydisDecodedInstruction decoded{};
    Flow flow = Flow::plain;

    std::uint32_t end() const { return offset + decoded.length; }
    bool falls_through() const { return flow != Flow::jump && flow != Flow::end; }

    /// Where it branches to, from the function's first byte; modulo 2^64. Empty unless it has a relative
    /// operand.
    std::optional<std::uint64_t> branch_target() const;

    /// What its RIP-relative memory operand refers to, from the function's first byte; modulo 2^64.
    std::optional<std::uint64_t> memory_target() const;

    /// Other processors see its effect on memory at once: with a `lock` prefix, or an exchange with memory,
    /// which is locked without saying so.
    bool is_atomic() const;

    /// What compilers and linkers put between functions.
    bool is_padding() const { return is_nop() || decoded.mnemonic == ZYDIS_MNEMONIC_INT3; }

    /// RIP-relative memory operand without effect on what the instruction does (a long nop).
    bool is_nop() const;
};

enum class DecodeError : std::uint8_t {
    undecodable,
    cut_off,  ///< the bytes end in the middle of it
};

struct Decoded {
    std::optional<Instruction> instruction;
    DecodeError error = DecodeError::undecodable;  ///< when there is no instruction
};

/// An instruction with its operands, for who asks what it reads and writes.
struct WithOperands {
    ZydisDecodedInstruction instruction{};
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands{};

    /// False: no instruction begins `code`, or not all of it is there. Thread-safe.
    bool decode(std::span<const std::uint8_t> code);
};

/// Decodes the instruction at `offset`; never reads behind `body`. Thread-safe.
Decoded decode_at(std::span<const std::uint8_t> body, std::uint32_t offset);

}  // namespace rdam::relocation
