#include "wrappers/entry/callee_conduct.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>
#include <bitset>

#include "tools/base/demangle.h"
#include "wrappers/entry/instruction.h"

namespace rdam {

namespace {

constexpr std::array<ZydisRegister, 6> kKept{ZYDIS_REGISTER_RBX, ZYDIS_REGISTER_RBP, ZYDIS_REGISTER_R12,
                                             ZYDIS_REGISTER_R13, ZYDIS_REGISTER_R14, ZYDIS_REGISTER_R15};

/// What compilers do not do across tail calls is not looked for.
constexpr int kDeepestTailCall = 8;

/// Functions with a convention of their own stand together: an interpreter's instructions.
constexpr std::uint64_t kBlock = std::uint64_t{16} << 10U;

/// A function larger than this is generated code, and no compiler's convention is in doubt there.
constexpr std::uint64_t kLongestSearched = std::uint64_t{1} << 20U;

using FollowedInstruction = relocation::WithOperands;

/// The place of the register among kKept.
std::optional<std::size_t> kept(ZydisRegister reg) {
    const auto full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    const auto found = std::ranges::find(kKept, full);
    if (found == kKept.end()) return std::nullopt;
    return static_cast<std::size_t>(found - kKept.begin());
}

struct Registers {
    std::bitset<kKept.size()> written;
    std::bitset<kKept.size()> saved;

    void follow(const FollowedInstruction& instruction) {
        const auto& decoded = instruction.instruction;
        const bool restores =
            decoded.mnemonic == ZYDIS_MNEMONIC_POP || decoded.mnemonic == ZYDIS_MNEMONIC_LEAVE;
        if (decoded.mnemonic == ZYDIS_MNEMONIC_ENTER) saved.set(1);
        for (std::size_t i = 0; i < decoded.operand_count; ++i) {
            const ZydisDecodedOperand& operand = instruction.operands[i];
            if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
            const auto index = kept(operand.reg.value);
            if (!index) continue;
            const bool writes = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
            // Pushed, or copied whole to somewhere else, while it is still the caller's.
            const bool moves =
                decoded.mnemonic == ZYDIS_MNEMONIC_PUSH || decoded.mnemonic == ZYDIS_MNEMONIC_MOV ||
                decoded.mnemonic == ZYDIS_MNEMONIC_MOVQ || decoded.mnemonic == ZYDIS_MNEMONIC_XCHG;
            if (!writes && moves && operand.size == 64 && !written[*index]) saved.set(*index);
            if (writes && !restores) written.set(*index);
            if (writes && decoded.mnemonic == ZYDIS_MNEMONIC_XCHG) saved.set(*index);
        }
    }

    bool spoiled() const { return (written & ~saved).any(); }
};

bool is_cold(const ObjectFile& file, std::uint64_t address) {
    const auto symbols = file.at(address);
    return std::ranges::any_of(symbols, [](const Symbol& symbol) {
        return split_clone(symbol.name).suffix.find(".cold") != std::string_view::npos;
    });
}

}  // namespace

/// A function that begins at `target`, outside of `function`.
std::optional<CodeRange> CalleeConduct::other_function_at(const CodeRange& function,
                                                          std::uint64_t target) const {
    if (function.contains(target)) return std::nullopt;
    const ElfSection* section = file_.code_section(target);
    if (section == nullptr || section->name.starts_with(".plt")) return std::nullopt;
    const auto symbols = file_.at(target);
    const bool known = std::ranges::any_of(
        symbols, [](const Symbol& symbol) { return symbol.kind == SymbolKind::function; });
    if (!known || is_cold(file_, target)) return std::nullopt;
    return file_.extent(target);
}

CalleeConduct::Looked CalleeConduct::examine(const CodeRange& function) const {
    Looked result;
    if (function.size() > kLongestSearched) return result;
    const auto body = file_.code(function.begin, function.size());
    Registers registers;
    StackRow row;
    FollowedInstruction instruction;
    for (std::size_t offset = 0; offset < body.size();) {
        if (!instruction.decode(body.subspan(offset))) {
            ++offset;
            continue;
        }
        const auto& decoded = instruction.instruction;
        const std::uint64_t address = function.begin + offset;
        registers.follow(instruction);
        offset += decoded.length;
        if (decoded.mnemonic == ZYDIS_MNEMONIC_RET && decoded.operand_count_visible > 0)
            result.conduct.pops_arguments = true;
        const bool branches = decoded.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
                              decoded.meta.category == ZYDIS_CATEGORY_COND_BR;
        for (std::size_t i = 0; i < decoded.operand_count_visible; ++i) {
            const ZydisDecodedOperand& operand = instruction.operands[i];
            if (branches && operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand.imm.is_relative) {
                std::uint64_t target = 0;
                if (ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&decoded, &operand, address, &target)) &&
                    other_function_at(function, target))
                    result.tail_calls.push_back(target);
            } else if (branches) {
                result.conduct.jumps_anywhere = true;
            }
            if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type != ZYDIS_MEMOP_TYPE_MEM)
                continue;
            const bool by_rsp = operand.mem.base == ZYDIS_REGISTER_RSP;
            const bool by_rbp = operand.mem.base == ZYDIS_REGISTER_RBP;
            if (!rows_.exist() || (!by_rsp && !by_rbp) || operand.mem.disp.value < 0) continue;
            // An index may run from what only looks like the stack's end (an array's, counted down).
            if (operand.mem.index != ZYDIS_REGISTER_NONE) continue;
            if (!row.code.contains(address)) row = rows_.at(address);
            if (!row.known || row.base != (by_rsp ? kDwarfRsp : kDwarfRbp)) continue;
            const std::int64_t behind = operand.mem.disp.value - row.offset + operand.size / 8;
            if (behind > static_cast<std::int64_t>(result.conduct.stack_bytes))
                result.conduct.stack_bytes = static_cast<std::uint64_t>(behind);
        }
    }
    result.conduct.spoils_registers = registers.spoiled();
    return result;
}

const CalleeConduct::Looked& CalleeConduct::look_at(const CodeRange& function) {
    const auto known = looked_.find(function.begin);
    if (known != looked_.end()) return known->second;
    return looked_.emplace(function.begin, examine(function)).first->second;
}

const Conduct& CalleeConduct::of(const CodeRange& function) {
    return look_at(function).conduct;
}

bool CalleeConduct::keeps_registers(const CodeRange& function, int depth) {
    const Looked& looked = look_at(function);
    if (looked.conduct.spoils_registers) return false;
    if (depth == 0) return true;
    return std::ranges::all_of(looked.tail_calls, [&](std::uint64_t target) {
        const auto callee = other_function_at(function, target);
        return !callee || keeps_registers(*callee, depth - 1);
    });
}

bool CalleeConduct::has_spoiling_neighbours(const CodeRange& function) {
    // The C library has some in assembly (longjmp, clone), to which nothing jumps in place of returning.
    if (file_.soname().starts_with("libc.so")) return false;
    const std::uint64_t block = function.begin / kBlock;
    for (std::uint64_t index = block == 0 ? 0 : block - 1; index <= block + 1; ++index) {
        const auto known = spoiling_.find(index);
        bool spoils = known != spoiling_.end() && known->second;
        if (known == spoiling_.end()) {
            const std::uint64_t end = (index + 1) * kBlock;
            const Symbol* symbol =
                file_.next_code(index * kBlock - std::min<std::uint64_t>(index * kBlock, 1));
            for (; symbol != nullptr && symbol->address < end && !spoils;
                 symbol = file_.next_code(symbol->address)) {
                const auto extent = file_.extent(symbol->address);
                // Hand-written code and the program's first steps have no size, or a convention of their own.
                const bool ordinary = symbol->kind == SymbolKind::function && symbol->size != 0 &&
                                      !is_cold(file_, symbol->address) && symbol->name != "_start";
                spoils = extent && ordinary && look_at(*extent).conduct.spoils_registers;
            }
            spoiling_.emplace(index, spoils);
        }
        if (spoils) return true;
    }
    return false;
}

bool CalleeConduct::suits_stack_frame(const CodeRange& function, std::uint64_t stack_bytes) {
    const Conduct conduct = of(function);
    if (conduct.pops_arguments || conduct.stack_bytes > stack_bytes) return false;
    if (!keeps_registers(function, kDeepestTailCall)) return false;
    return !conduct.jumps_anywhere || !has_spoiling_neighbours(function);
}

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

namespace {

struct DecodedInstruction : relocation::WithOperands {
    bool moves_stack_pointer() const {
        if (instruction.meta.category == ZYDIS_CATEGORY_CALL) return false;
        for (unsigned i = 0; i < instruction.operand_count; ++i) {
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
        for (unsigned i = 0; i < instruction.operand_count_visible; ++i) {
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
        for (unsigned i = 0; i < instruction.operand_count_visible; ++i) {
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
        if (!instruction.decode(body.subspan(offset))) {
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
        offset += instruction.instruction.length;
        if (instruction.moves_stack_pointer()) stack_moved = function.begin + offset;
    }
    return std::nullopt;
}

}  // namespace rdam
