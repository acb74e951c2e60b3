#include "wrappers/leaf/polling.h"

#include <algorithm>
#include <array>
#include <set>

namespace rdam {
namespace {

using relocation::Instruction;
using Operands = std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT>;

/// eax, ax and al are one register.
ZydisRegister whole(ZydisRegister part) {
    const ZydisRegister all = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, part);
    return all == ZYDIS_REGISTER_NONE ? part : all;
}

bool is_no_state(ZydisRegister reg) {
    return reg == ZYDIS_REGISTER_NONE || reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_RFLAGS;
}

class Turn {
  public:
    void add(const Instruction& instruction) {
        ZydisDecoder decoder;
        ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        ZydisDecodedInstruction decoded{};
        Operands operands{};
        if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, instruction.bytes.data(), instruction.bytes.size(),
                                               &decoded, operands.data())))
            return;
        const std::span<const ZydisDecodedOperand> used(operands.data(), decoded.operand_count);
        const bool loads = decoded.meta.category == ZYDIS_CATEGORY_DATAXFER &&
                           std::any_of(used.begin(), used.end(), reads_memory);
        for (const ZydisDecodedOperand& operand : used)
            add(operand, loads);
    }

    bool only_looks() const {
        const auto carried = [&](ZydisRegister reg) { return loaded_.count(reg) == 0; };
        const auto moves = [&](ZydisRegister reg) { return written_.count(reg) != 0; };
        return reads_ && !writes_memory_ && std::none_of(written_.begin(), written_.end(), carried) &&
               std::none_of(addresses_.begin(), addresses_.end(), moves);
    }

  private:
    static bool reads_memory(const ZydisDecodedOperand& operand) {
        return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM &&
               (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    }

    void add(const ZydisDecodedOperand& operand, bool loads) {
        const bool writes = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
        if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM) {
            writes_memory_ = writes_memory_ || writes;
            reads_ = reads_ || reads_memory(operand);
            for (const ZydisRegister reg : {operand.mem.base, operand.mem.index})
                if (!is_no_state(whole(reg))) addresses_.insert(whole(reg));
        } else if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && writes) {
            const ZydisRegister reg = whole(operand.reg.value);
            if (is_no_state(reg)) return;
            written_.insert(reg);
            if (loads) loaded_.insert(reg);
        }
    }

    bool reads_ = false;
    bool writes_memory_ = false;
    std::set<ZydisRegister> written_;
    std::set<ZydisRegister> loaded_;     // anew in every turn
    std::set<ZydisRegister> addresses_;  // by which memory is found
};

}  // namespace

bool is_polling(const std::vector<Instruction>& loop) {
    Turn turn;
    for (const Instruction& instruction : loop)
        turn.add(instruction);
    return turn.only_looks();
}

}  // namespace rdam
