#include "wrappers/entry/emitter.h"

#include <algorithm>
#include <array>
#include <utility>

namespace rdam::relocation {
namespace {

constexpr std::uint32_t kFieldSize = 4;
constexpr std::uint8_t kNearJumpSize = 5;

ZydisEncoderRequest request_of(ZydisMnemonic mnemonic) {
    ZydisEncoderRequest request{};
    request.machine_mode = ZYDIS_MACHINE_MODE_LONG_64;
    request.mnemonic = mnemonic;
    return request;
}

ZydisEncoderRequest near_branch(ZydisMnemonic mnemonic) {
    ZydisEncoderRequest request = request_of(mnemonic);
    request.branch_type = ZYDIS_BRANCH_TYPE_NEAR;
    request.branch_width = ZYDIS_BRANCH_WIDTH_32;
    request.operand_count = 1;
    request.operands[0].type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
    return request;
}

ZydisEncoderRequest push_rip_relative() {
    ZydisEncoderRequest request = request_of(ZYDIS_MNEMONIC_PUSH);
    request.operand_count = 1;
    request.operands[0].type = ZYDIS_OPERAND_TYPE_MEMORY;
    request.operands[0].mem.base = ZYDIS_REGISTER_RIP;
    request.operands[0].mem.size = sizeof(std::uint64_t);
    return request;
}

/// Processors disagree on what the prefix 66 does to a branch: AMD's cut the address to 16 bits, Intel's do
/// not.
bool has_narrow_branch(const Instruction& instruction) {
    const auto& decoded = instruction.decoded;
    const bool wide = (decoded.attributes & ZYDIS_ATTRIB_HAS_REX) != 0 && decoded.raw.rex.W != 0;
    return (decoded.attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) != 0 && !wide &&
           (instruction.branch_target() || instruction.flow == Flow::indirect_call);
}

class Emitter {
  public:
    Emitter(std::span<const Instruction> moved, std::uint64_t address) : moved_(moved), address_(address) {}

    Result<MovedCode> run() {
        for (const Instruction& instruction : moved_) {
            starts_.push_back(position());
            code_.steps.push_back({position(), instruction.offset, 0});
            if (auto done = emit(instruction); !done) return tl::unexpected(done.error());
        }
        const Instruction& last = moved_.back();
        if (last.falls_through() && !returns_behind(last)) {
            code_.steps.push_back({position(), last.end(), 0});
            emit_jump(last.end());
        }
        code_.executed = position();
        for (const auto& [field, target] : inner_jumps_)
            set_field(field, copy_of(target));
        emit_return_slot();
        return std::move(code_);
    }

  private:
    static bool returns_behind(const Instruction& instruction) {
        return instruction.flow == Flow::call || instruction.flow == Flow::indirect_call;
    }

    Result<void> emit(const Instruction& instruction) {
        if (has_narrow_branch(instruction))
            return fail("branch with a 16-bit operand size at +{}", instruction.offset);
        if (instruction.memory_target() && instruction.decoded.address_width != 64)
            return fail("32-bit address relative to itself at +{}", instruction.offset);
        switch (instruction.flow) {
            case Flow::call:
                return emit_call(instruction);
            case Flow::indirect_call:
                return emit_indirect_call(instruction);
            case Flow::far_call:
                return fail("call to another code segment at +{}", instruction.offset);
            case Flow::jump:
            case Flow::conditional:
                return emit_branch(instruction);
            case Flow::short_only:
                return emit_short_branch(instruction);
            case Flow::plain:
            case Flow::end:
                break;
        }
        if (instruction.decoded.mnemonic == ZYDIS_MNEMONIC_INT3)
            return fail("breakpoint instruction at +{}", instruction.offset);
        emit_verbatim(instruction);
        return {};
    }

    void emit_verbatim(const Instruction& instruction) {
        const std::uint32_t start = position();
        append(instruction.bytes);
        const auto target = instruction.memory_target();
        if (!target || instruction.is_nop()) return;
        const std::uint32_t field = start + instruction.decoded.raw.disp.offset;
        const std::uint64_t bytes_behind_field = position() - field - kFieldSize;
        refer_outside(field, *target - bytes_behind_field);
    }

    /// The callee must find the original return address: unwind tables know that one only.
    Result<void> emit_call(const Instruction& instruction) {
        if (auto pushed = emit_push_return(instruction); !pushed) return pushed;
        if (!encode(near_branch(ZYDIS_MNEMONIC_JMP))) return cannot_encode(instruction);
        refer_outside(last_field(), *instruction.branch_target());
        return {};
    }

    Result<void> emit_indirect_call(const Instruction& instruction) {
        auto request = jump_through_operand(instruction);
        if (!request) return tl::unexpected(request.error());
        if (auto pushed = emit_push_return(instruction); !pushed) return pushed;
        if (!encode(*request)) return cannot_encode(instruction);
        if (const auto target = instruction.memory_target()) refer_outside(last_field(), *target);
        return {};
    }

    static Result<ZydisEncoderRequest> jump_through_operand(const Instruction& instruction) {
        ZydisDecodedInstruction decoded;
        std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
        ZydisEncoderRequest request;
        const bool converted =
            ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), instruction.bytes.data(),
                                                instruction.bytes.size(), &decoded, operands.data())) &&
            ZYAN_SUCCESS(ZydisEncoderDecodedInstructionToEncoderRequest(
                &decoded, operands.data(), decoded.operand_count_visible, &request));
        if (!converted) return cannot_encode(instruction);
        request.mnemonic = ZYDIS_MNEMONIC_JMP;
        auto& operand = request.operands[0];
        if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value == ZYDIS_REGISTER_RSP)
            return fail("call to the stack at +{}", instruction.offset);
        if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_ESP)
            return fail("call through a 32-bit stack address at +{}", instruction.offset);
        if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RSP)
            operand.mem.displacement += sizeof(std::uint64_t);
        return request;
    }

    Result<void> emit_push_return(const Instruction& instruction) {
        if (!encode(push_rip_relative())) return cannot_encode(instruction);
        return_field_ = last_field();
        return_to_ = instruction.end();
        code_.steps.push_back({position(), instruction.offset, sizeof(std::uint64_t)});
        return {};
    }

    Result<void> emit_branch(const Instruction& instruction) {
        if (instruction.decoded.raw.imm[0].size == 32)
            append(instruction.bytes);
        else if (!encode(near_branch(instruction.decoded.mnemonic)))
            return cannot_encode(instruction);
        refer(last_field(), *instruction.branch_target());
        return {};
    }

    /// jrcxz to a near jump, and a short jump around that one.
    Result<void> emit_short_branch(const Instruction& instruction) {
        constexpr std::array<std::uint8_t, 3> kToNearJumpElseAround{2, 0xEB, kNearJumpSize};
        append(instruction.bytes.first(instruction.bytes.size() - 1));
        append(kToNearJumpElseAround);
        emit_jump(*instruction.branch_target());
        return {};
    }

    void emit_jump(std::uint64_t target) {
        constexpr std::array<std::uint8_t, kNearJumpSize> kNearJump{0xE9};
        append(kNearJump);
        refer(last_field(), target);
    }

    void emit_return_slot() {
        if (return_field_ == 0) return;
        set_field(return_field_, position());
        code_.fixups.push_back({position(), plan::FixupKind::abs64, to_object(return_to_)});
        code_.bytes.resize(code_.bytes.size() + sizeof(std::uint64_t));
    }

    void refer(std::uint32_t field, std::uint64_t target) {
        if (target < moved_.back().end())
            inner_jumps_.emplace_back(field, static_cast<std::uint32_t>(target));
        else
            refer_outside(field, target);
    }

    void refer_outside(std::uint32_t field, std::uint64_t target) {
        set_field(field, field + kFieldSize);
        code_.fixups.push_back({field, plan::FixupKind::rel32, to_object(target)});
    }

    std::uint32_t copy_of(std::uint32_t offset) const {
        const auto found =
            std::lower_bound(moved_.begin(), moved_.end(), offset,
                             [](const Instruction& i, std::uint32_t o) { return i.offset < o; });
        return starts_[static_cast<std::size_t>(found - moved_.begin())];
    }

    void set_field(std::uint32_t field, std::uint32_t code_target) {
        const std::uint32_t relative = code_target - (field + kFieldSize);
        for (std::uint32_t i = 0; i < kFieldSize; ++i)
            code_.bytes[field + i] = static_cast<std::uint8_t>(relative >> (8 * i));
    }

    bool encode(const ZydisEncoderRequest& request) {
        std::array<std::uint8_t, ZYDIS_MAX_INSTRUCTION_LENGTH> buffer{};
        ZyanUSize length = buffer.size();
        if (ZYAN_FAILED(ZydisEncoderEncodeInstruction(&request, buffer.data(), &length))) return false;
        append(std::span(buffer).first(length));
        return true;
    }

    static tl::unexpected<Error> cannot_encode(const Instruction& instruction) {
        return fail("instruction without an equivalent elsewhere at +{}", instruction.offset);
    }

    void append(std::span<const std::uint8_t> bytes) {
        code_.bytes.insert(code_.bytes.end(), bytes.begin(), bytes.end());
    }

    std::uint32_t position() const { return static_cast<std::uint32_t>(code_.bytes.size()); }
    std::uint32_t last_field() const { return position() - kFieldSize; }
    std::int64_t to_object(std::uint64_t offset) const {
        return static_cast<std::int64_t>(address_ + offset);
    }

    std::span<const Instruction> moved_;
    std::uint64_t address_;
    MovedCode code_;
    std::vector<std::uint32_t> starts_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> inner_jumps_;
    std::uint32_t return_field_ = 0;
    std::uint32_t return_to_ = 0;
};

}  // namespace

Result<MovedCode> emit_moved(std::span<const Instruction> moved, std::uint64_t address) {
    return Emitter(moved, address).run();
}

}  // namespace rdam::relocation
