#include "wrappers/entry/wait_sites.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "libprobe/format/plan.h"
#include "wrappers/entry/instruction.h"

namespace rdam {
namespace {

/// Larger functions are not looked at: a slow path is a loop around a system call.
constexpr std::uint64_t kLargest = 4096;
/// From a site's target to the one that makes the system call: sem_wait jumps to what calls what calls
/// __futex_abstimed_wait64, which calls what all such waits have in common.
constexpr int kMaxSteps = 3;

/// Which register has which number, as far as instructions in the order of addresses tell: enough for what a
/// function passes to the kernel.
class Numbers {
  public:
    void follow(const relocation::Instruction& instruction) {
        constexpr std::uint8_t kMoveNumber = 0xb8;  // and the register
        constexpr std::uint8_t kStore = 0x89;
        constexpr std::uint8_t kLoad = 0x8b;
        constexpr std::uint8_t kLow = 7;
        const auto& raw = instruction.decoded.raw;
        if (instruction.decoded.mnemonic != ZYDIS_MNEMONIC_MOV) return;
        const std::uint8_t opcode = instruction.decoded.opcode;
        if (opcode >= kMoveNumber && opcode <= kMoveNumber + kLow) {
            in_[(opcode & kLow) + 8U * raw.rex.B] = raw.imm[0].value.u;
        } else if ((opcode == kStore || opcode == kLoad) && raw.modrm.mod == 3) {
            const unsigned one = raw.modrm.reg + 8U * raw.rex.R;
            const unsigned other = raw.modrm.rm + 8U * raw.rex.B;
            if (opcode == kStore)
                in_[other] = in_[one];
            else
                in_[one] = in_[other];
        }
    }

    bool eax_is(std::uint64_t number) const { return in_[0] == number; }

  private:
    std::array<std::optional<std::uint64_t>, 16> in_{};
};

std::span<const std::uint8_t> body_of(const ObjectFile& file, std::uint64_t address) {
    const auto extent = file.extent(address);
    if (!extent || extent->begin != address || extent->size() > kLargest) return {};
    return file.code(address, extent->size());
}

/// Where the instruction goes to, outside of the function of `size` bytes at `address`.
std::optional<std::uint64_t> leads_to(const relocation::Instruction& instruction, std::uint64_t address,
                                      std::uint64_t size) {
    if (instruction.flow != relocation::Flow::call && instruction.flow != relocation::Flow::jump)
        return std::nullopt;
    const auto target = instruction.branch_target();
    if (!target || *target < size) return std::nullopt;
    return address + *target;
}

/// For anybody to call: abort() takes a lock, too.
bool is_exported(const ObjectFile& file, std::uint64_t address) {
    constexpr std::string_view kPrivate = "GLIBC_PRIVATE";
    return std::ranges::any_of(file.at(address), [&](const Symbol& symbol) {
        return symbol.exported && symbol.version != kPrivate;
    });
}

bool may_sleep(const ObjectFile& file, std::uint64_t address, int steps) {
    const auto body = body_of(file, address);
    std::vector<std::uint64_t> further;
    Numbers numbers;
    for (std::uint32_t offset = 0; offset < body.size();) {
        const auto decoded = relocation::decode_at(body, offset);
        if (!decoded.instruction) return false;
        const relocation::Instruction& instruction = *decoded.instruction;
        numbers.follow(instruction);
        if (instruction.decoded.mnemonic == ZYDIS_MNEMONIC_SYSCALL && numbers.eax_is(SYS_futex)) return true;
        if (const auto target = leads_to(instruction, address, body.size());
            target && !is_exported(file, *target))
            further.push_back(*target);
        offset = instruction.end();
    }
    return steps > 0 && std::ranges::any_of(further, [&](std::uint64_t target) {
               return may_sleep(file, target, steps - 1);
           });
}

/// Where a function can get to.
class Reach {
  public:
    explicit Reach(std::span<const std::uint8_t> body) : body_{body}, seen_(body.size()) {}

    bool has(std::uint32_t offset) const { return seen_[offset]; }

    /// Once it has run an atomic instruction.
    void follow_atomics() {
        for (std::uint32_t offset = 0; offset < body_.size();) {
            const auto decoded = relocation::decode_at(body_, offset);
            if (!decoded.instruction) return;
            offset = decoded.instruction->end();
            if (decoded.instruction->is_atomic()) follow(offset);
        }
    }

    void follow(std::uint32_t from) {
        std::vector<std::uint32_t> ways{from};
        while (!ways.empty()) {
            std::uint32_t offset = ways.back();
            ways.pop_back();
            while (offset < body_.size() && !seen_[offset]) {
                const auto decoded = relocation::decode_at(body_, offset);
                if (!decoded.instruction) break;
                const relocation::Instruction& instruction = *decoded.instruction;
                seen_[offset] = true;
                const bool branches = instruction.flow == relocation::Flow::jump ||
                                      instruction.flow == relocation::Flow::conditional ||
                                      instruction.flow == relocation::Flow::short_only;
                if (const auto target = instruction.branch_target();
                    branches && target && *target < body_.size())
                    ways.push_back(static_cast<std::uint32_t>(*target));
                if (!instruction.falls_through()) break;
                offset = instruction.end();
            }
        }
    }

  private:
    std::span<const std::uint8_t> body_;
    std::vector<bool> seen_;
};

}  // namespace

namespace {

/// Where `function` goes to what may sleep, within so many steps: behind an atomic instruction, or without having tried one.
std::vector<WaitSite> sites_in(const ObjectFile& file, const CodeRange& function, bool behind_atomic,
                               int steps) {
    if (function.size() > kLargest) return {};
    const auto body = file.code(function.begin, function.size());
    Reach behind{body};
    behind.follow_atomics();
    std::map<std::uint64_t, bool> sleeps;  // by target
    std::vector<WaitSite> sites;
    for (std::uint32_t offset = 0; offset < body.size();) {
        const auto decoded = relocation::decode_at(body, offset);
        if (!decoded.instruction) return {};
        const relocation::Instruction& instruction = *decoded.instruction;
        const auto target = leads_to(instruction, function.begin, body.size());
        if (target && instruction.decoded.length == plan::kPatchSize && behind.has(offset) == behind_atomic &&
            !is_exported(file, *target)) {
            const auto [known, is_new] = sleeps.try_emplace(*target, false);
            if (is_new) known->second = may_sleep(file, *target, steps);
            if (known->second)
                sites.push_back({.address = function.begin + offset,
                                 .target = *target,
                                 .call = instruction.flow == relocation::Flow::call});
        }
        offset = instruction.end();
    }
    return sites;
}

/// `function`, or an internal function that it jumps to if it has no wait sites itself.
CodeRange with_wait_sites(const ObjectFile& file, const CodeRange& function) {
    if (function.size() > kLargest || !wait_sites(file, function).empty()) return function;
    const auto body = file.code(function.begin, function.size());
    for (std::uint32_t offset = 0; offset < body.size();) {
        const auto decoded = relocation::decode_at(body, offset);
        if (!decoded.instruction) return function;
        const auto target = leads_to(*decoded.instruction, function.begin, body.size());
        if (target && decoded.instruction->flow == relocation::Flow::jump)
            if (const auto further = file.extent(*target); further && further->begin == *target)
                return *further;
        offset = decoded.instruction->end();
    }
    return function;
}

}  // namespace

std::vector<WaitSite> wait_sites(const ObjectFile& file, const CodeRange& function) {
    return sites_in(file, function, true, kMaxSteps);
}

bool reads_first_argument(const ObjectFile& file, std::uint64_t address) {
    relocation::WithOperands first;
    if (!first.decode(file.code(address, ZYDIS_MAX_INSTRUCTION_LENGTH))) return false;
    const ZydisDecodedOperand& from = first.operands[1];
    return first.instruction.mnemonic == ZYDIS_MNEMONIC_MOV && from.type == ZYDIS_OPERAND_TYPE_MEMORY &&
           from.mem.base == ZYDIS_REGISTER_RDI && from.mem.index == ZYDIS_REGISTER_NONE &&
           from.mem.disp.value == 0;
}

bool reads_member(const ObjectFile& file, std::uint64_t address, std::int64_t offset) {
    const auto body = body_of(file, address);
    relocation::WithOperands each;
    for (std::size_t at = 0; at < body.size() && each.decode(body.subspan(at));
         at += each.instruction.length) {
        if (each.instruction.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE) return false;
        const std::span operands{each.operands.data(), each.instruction.operand_count};
        const ZydisDecodedOperand& from = each.operands[1];
        if (each.instruction.mnemonic == ZYDIS_MNEMONIC_MOV && from.type == ZYDIS_OPERAND_TYPE_MEMORY &&
            from.mem.base == ZYDIS_REGISTER_RDI && from.mem.index == ZYDIS_REGISTER_NONE &&
            from.mem.disp.value == offset)
            return true;
        if (std::ranges::any_of(operands, [](const ZydisDecodedOperand& operand) {
                return operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
                       (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 &&
                       ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand.reg.value) ==
                           ZYDIS_REGISTER_RDI;
            }))
            return false;
    }
    return false;
}

namespace {

/// Whether the code at `at` does nothing but return a constant.
bool only_returns(std::span<const std::uint8_t> body, std::size_t at) {
    relocation::WithOperands each;
    for (; at < body.size() && each.decode(body.subspan(at)); at += each.instruction.length) {
        const ZydisDecodedOperand& to = each.operands[0];
        const ZydisDecodedOperand& from = each.operands[1];
        const auto mnemonic = each.instruction.mnemonic;
        if (mnemonic == ZYDIS_MNEMONIC_RET) return true;
        if (to.type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
        const bool is_zero = mnemonic == ZYDIS_MNEMONIC_XOR && from.type == ZYDIS_OPERAND_TYPE_REGISTER &&
                             from.reg.value == to.reg.value;
        const bool frees = mnemonic == ZYDIS_MNEMONIC_ADD && to.reg.value == ZYDIS_REGISTER_RSP;
        if (!is_zero && !frees && mnemonic != ZYDIS_MNEMONIC_POP) return false;
    }
    return false;
}

}  // namespace

std::optional<plan::Waiters> waiters_seen(const ObjectFile& file, std::uint64_t address) {
    const auto body = body_of(file, address);
    relocation::WithOperands each;
    std::optional<std::int64_t> offset;
    std::vector<ZydisRegister> loaded;  // what has the word
    std::uint32_t mask = 0;             // … of the last instruction, which has set the flags by it
    for (std::size_t at = 0; at < body.size() && each.decode(body.subspan(at));
         at += each.instruction.length) {
        const ZydisDecodedOperand& to = each.operands[0];
        const ZydisDecodedOperand& from = each.operands[1];
        const auto has_word = [&](const ZydisDecodedOperand& operand) {
            return operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
                   std::ranges::find(loaded, operand.reg.value) != loaded.end();
        };
        switch (each.instruction.mnemonic) {
            case ZYDIS_MNEMONIC_ENDBR64:
            case ZYDIS_MNEMONIC_PUSH:
                break;
            case ZYDIS_MNEMONIC_SUB:
                if (mask != 0 || to.type != ZYDIS_OPERAND_TYPE_REGISTER || to.reg.value != ZYDIS_REGISTER_RSP)
                    return std::nullopt;
                break;
            case ZYDIS_MNEMONIC_MOV:
                if (to.type != ZYDIS_OPERAND_TYPE_REGISTER || to.size != 32) return std::nullopt;
                if (has_word(from)) {
                    loaded.push_back(to.reg.value);
                } else if (!offset && from.type == ZYDIS_OPERAND_TYPE_MEMORY &&
                           from.mem.base == ZYDIS_REGISTER_RDI && from.mem.index == ZYDIS_REGISTER_NONE &&
                           from.mem.disp.value >= 0 && from.mem.disp.value < 128) {
                    offset = from.mem.disp.value;
                    loaded = {to.reg.value};
                } else {
                    return std::nullopt;
                }
                break;
            case ZYDIS_MNEMONIC_SHR:
                if (!has_word(to) || from.type != ZYDIS_OPERAND_TYPE_IMMEDIATE || from.imm.value.u >= 32)
                    return std::nullopt;
                std::erase(loaded, to.reg.value);
                mask = ~std::uint32_t{0} << from.imm.value.u;
                break;
            case ZYDIS_MNEMONIC_JZ:
                if (mask == 0 || to.type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
                    !only_returns(body,
                                  at + each.instruction.length + static_cast<std::size_t>(to.imm.value.s)))
                    return std::nullopt;
                return plan::Waiters{.mask = mask, .offset = static_cast<std::uint8_t>(*offset)};
            default:
                return std::nullopt;
        }
    }
    return std::nullopt;
}

bool is_in_loop(const ObjectFile& file, const CodeRange& function, const WaitSite& site) {
    Reach behind{file.code(function.begin, function.size())};
    const auto offset = static_cast<std::uint32_t>(site.address - function.begin);
    behind.follow(offset + plan::kPatchSize);
    return behind.has(offset);
}

std::vector<WaitSite> wait_sites_behind_jump(const ObjectFile& file, const CodeRange& function) {
    return wait_sites(file, with_wait_sites(file, function));
}

std::optional<WaitSite> way_of_other_kinds(const ObjectFile& file, const CodeRange& function) {
    const CodeRange part = with_wait_sites(file, function);
    if (wait_sites(file, part).empty()) return std::nullopt;
    std::vector<WaitSite> sites = sites_in(file, part, false, 0);
    std::erase_if(sites, [](const WaitSite& site) { return site.call; });
    return sites.size() == 1 ? std::optional{sites.front()} : std::nullopt;
}

}  // namespace rdam
