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
        ZydisDecodedInstruction decoded{};
        Operands operands{};
        if (ZYAN_FAILED(ZydisDecoderDecodeFull(&relocation::decoder(), instruction.bytes.data(),
                                               instruction.bytes.size(), &decoded, operands.data())))
            return;
        Load load;
        bool reads = false;
        for (unsigned i = 0; i < decoded.operand_count; ++i) {
            const ZydisDecodedOperand& operand = operands[i];
            const bool writes = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
            if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM) {
                reads = reads || (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
                writes_memory_ = writes_memory_ || writes;
                load.from = {whole(operand.mem.base), whole(operand.mem.index)};
            } else if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && writes &&
                       !is_no_state(whole(operand.reg.value))) {
                load.to = whole(operand.reg.value);
                written_.insert(load.to);
            }
        }
        reads_ = reads_ || reads;
        if (reads && load.to != ZYDIS_REGISTER_NONE && decoded.meta.category == ZYDIS_CATEGORY_DATAXFER)
            loads_.push_back(load);
    }

    bool only_looks() const {
        std::set<ZydisRegister> settled;  // the same in every iteration, as long as no other thread writes
        const auto is_settled = [&](ZydisRegister reg) {
            return written_.count(reg) == 0 || settled.count(reg) != 0;
        };
        const auto settles = [&](const Load& load) {
            return settled.count(load.to) == 0 && std::all_of(load.from.begin(), load.from.end(), is_settled);
        };
        for (auto next = loads_.begin(); next != loads_.end();) {
            next = std::find_if(loads_.begin(), loads_.end(), settles);
            if (next != loads_.end()) settled.insert(next->to);
        }
        return reads_ && !writes_memory_ && std::all_of(written_.begin(), written_.end(), is_settled);
    }

  private:
    struct Load {
        ZydisRegister to = ZYDIS_REGISTER_NONE;
        /// By which the place is found.
        std::array<ZydisRegister, 2> from{ZYDIS_REGISTER_NONE, ZYDIS_REGISTER_NONE};
    };

    bool reads_ = false;
    bool writes_memory_ = false;
    std::set<ZydisRegister> written_;
    std::vector<Load> loads_;
};

}  // namespace

bool is_polling(const std::vector<Instruction>& loop) {
    Turn turn;
    for (const Instruction& instruction : loop)
        turn.add(instruction);
    return turn.only_looks();
}

}  // namespace rdam
