#include "wrappers/entry/return_address.h"

#include <Zydis/Zydis.h>

#include "wrappers/entry/instruction.h"

namespace rdam {
namespace {

struct DecodedInstruction {
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

    bool moves_stack_pointer() const {
        if (decoded.meta.category == ZYDIS_CATEGORY_CALL) return false;
        for (unsigned i = 0; i < decoded.operand_count; ++i) {
            const ZydisDecodedOperand& operand = operands[i];
            if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value == ZYDIS_REGISTER_RSP &&
                (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0)
                return true;
        }
        return false;
    }

    /// Whether it reads memory at so many bytes from the register. To read and write at once is what memory
    /// barriers do (lock or $0, (%rsp)), to no effect.
    bool reads(ZydisRegister base, std::int64_t offset) const {
        for (unsigned i = 0; i < decoded.operand_count_visible; ++i) {
            const ZydisDecodedOperand& operand = operands[i];
            if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM &&
                (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0 &&
                (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0 && operand.mem.base == base &&
                operand.mem.index == ZYDIS_REGISTER_NONE && operand.mem.disp.value == offset)
                return true;
        }
        return false;
    }

    /// Whether it may be one that reads a return address at all: most are not, which saves looking up a row.
    bool is_worth_a_look() const {
        for (unsigned i = 0; i < decoded.operand_count_visible; ++i) {
            const ZydisDecodedOperand& operand = operands[i];
            if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
            if (operand.mem.base == ZYDIS_REGISTER_RSP || operand.mem.base == ZYDIS_REGISTER_RBP) return true;
        }
        return false;
    }
};

}  // namespace

std::optional<std::uint64_t> ReturnAddressReads::first_in(const CodeRange& function) const {
    if (!rows_.exist()) return std::nullopt;
    const auto body = file_.code(function.begin, function.size());
    StackRow row;
    std::uint64_t stack_moved = function.begin;  // behind the last instruction that moved the stack pointer
    DecodedInstruction instruction;
    for (std::size_t offset = 0; offset < body.size();) {
        const auto rest = body.subspan(offset);
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&relocation::decoder(), rest.data(), rest.size(),
                                                 &instruction.decoded, instruction.operands))) {
            ++offset;
            continue;
        }
        const std::uint64_t address = function.begin + offset;
        if (instruction.is_worth_a_look()) {
            if (!row.code.contains(address)) row = rows_.at(address);
            // Hand-written code may move the stack without telling the tables.
            const bool by_rsp = row.base == kDwarfRsp && stack_moved <= row.code.begin;
            const auto base = row.base == kDwarfRbp ? ZYDIS_REGISTER_RBP : ZYDIS_REGISTER_RSP;
            if (row.known && (by_rsp || row.base == kDwarfRbp) && instruction.reads(base, row.offset - 8))
                return offset;
        }
        offset += instruction.decoded.length;
        if (instruction.moves_stack_pointer()) stack_moved = function.begin + offset;
    }
    return std::nullopt;
}

}  // namespace rdam
