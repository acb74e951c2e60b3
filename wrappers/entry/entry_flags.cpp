#include "wrappers/entry/entry_flags.h"

#include <Zydis/Zydis.h>

#include "wrappers/relocate/instruction.h"

namespace rdam {

bool takes_flags(std::span<const std::uint8_t> body) {
    constexpr ZydisAccessedFlagsMask kArithmetic = ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF |
                                                   ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF;
    constexpr int kMost = 256;
    ZydisAccessedFlagsMask set = 0;
    std::uint64_t offset = 0;
    for (int i = 0; i < kMost; ++i) {
        const auto decoded = relocation::decode_at(body, static_cast<std::uint32_t>(offset));
        if (!decoded.instruction) return true;
        const relocation::Instruction& instruction = *decoded.instruction;
        if (const ZydisAccessedFlags* flags = instruction.decoded.cpu_flags; flags != nullptr) {
            if ((flags->tested & kArithmetic & ~set) != 0) return true;
            set |= flags->modified | flags->set_0 | flags->set_1 | flags->undefined;
        }
        if ((set & kArithmetic) == kArithmetic) return false;
        switch (instruction.flow) {
            case relocation::Flow::jump:
                offset = instruction.branch_target().value_or(body.size());
                // On to another function, which is called as this one is.
                if (offset >= body.size()) return false;
                break;
            case relocation::Flow::call:
            case relocation::Flow::indirect_call:
            case relocation::Flow::far_call:
                return false;
            case relocation::Flow::end:
                return false;
            default:
                offset = instruction.end();
        }
    }
    return true;
}

}  // namespace rdam
