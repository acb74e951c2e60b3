#include "tests/unit/relocate/correspondence.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "tests/unit/relocate/placement.h"

namespace rdam::test {
namespace {

constexpr std::uint64_t kBase = 0x7f00'1234'5000;
constexpr std::uint64_t kDistance = std::uint64_t{64} << 20;

/// A decoded instruction at its run-time address.
struct Placed {
    std::uint64_t address = 0;
    std::span<const std::uint8_t> bytes;
    ZydisDecodedInstruction decoded{};
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands{};

    std::uint64_t end() const { return address + decoded.length; }
    bool is(ZydisMnemonic mnemonic) const { return decoded.mnemonic == mnemonic; }

    bool relative(const ZydisDecodedOperand& operand) const {
        if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) return operand.imm.is_relative == ZYAN_TRUE;
        return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RIP;
    }

    std::optional<std::uint64_t> absolute() const {
        for (std::size_t i = 0; i < decoded.operand_count_visible; ++i) {
            std::uint64_t result = 0;
            if (relative(operands[i]) &&
                ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&decoded, &operands[i], address, &result)))
                return result;
        }
        return std::nullopt;
    }

    bool is_branch() const { return decoded.raw.imm[0].is_relative == ZYAN_TRUE && !is(ZYDIS_MNEMONIC_CALL); }

    bool is_short_only() const {
        constexpr std::array kShortOnly{ZYDIS_MNEMONIC_JCXZ, ZYDIS_MNEMONIC_JECXZ, ZYDIS_MNEMONIC_JRCXZ,
                                        ZYDIS_MNEMONIC_LOOP, ZYDIS_MNEMONIC_LOOPE, ZYDIS_MNEMONIC_LOOPNE};
        return std::find(kShortOnly.begin(), kShortOnly.end(), decoded.mnemonic) != kShortOnly.end();
    }

    bool goes_on() const {
        constexpr std::array kEnds{ZYDIS_MNEMONIC_JMP, ZYDIS_MNEMONIC_CALL, ZYDIS_MNEMONIC_UD0,
                                   ZYDIS_MNEMONIC_UD1, ZYDIS_MNEMONIC_UD2,  ZYDIS_MNEMONIC_HLT};
        return decoded.meta.category != ZYDIS_CATEGORY_RET &&
               decoded.meta.category != ZYDIS_CATEGORY_SYSRET &&
               std::find(kEnds.begin(), kEnds.end(), decoded.mnemonic) == kEnds.end();
    }
};

std::optional<Placed> decode(std::span<const std::uint8_t> bytes, std::uint64_t address) {
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    Placed result;
    if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(), &result.decoded,
                                           result.operands.data())))
        return std::nullopt;
    result.address = address;
    result.bytes = bytes.first(result.decoded.length);
    return result;
}

std::optional<std::vector<Placed>> decode_all(std::span<const std::uint8_t> bytes, std::uint64_t address) {
    std::vector<Placed> result;
    for (std::size_t offset = 0; offset < bytes.size(); offset += result.back().decoded.length) {
        auto next = decode(bytes.subspan(offset), address + offset);
        if (!next) return std::nullopt;
        result.push_back(*next);
    }
    return result;
}

class Comparison {
  public:
    Comparison(std::vector<Placed> original, std::span<const std::uint8_t> code, std::uint64_t place)
        : original_(std::move(original)), code_(code), place_(place) {}

    std::string run() {
        if (auto problem = pair_up(); !problem.empty()) return problem;
        for (const Placed& original : original_)
            if (auto problem = compare(original); !problem.empty())
                return fmt::format("instruction at {:#x}: {}", original.address - kBase, problem);
        return compare_end();
    }

  private:
    static std::size_t copies_of(const Placed& original) {
        if (original.is(ZYDIS_MNEMONIC_CALL)) return 2;
        return original.is_short_only() ? 3 : 1;
    }

    std::string pair_up() {
        for (const Placed& original : original_) {
            auto& copies = copies_[original.address];
            for (std::size_t i = 0; i < copies_of(original); ++i) {
                auto copy = decode(code_.subspan(cursor_), place_ + cursor_);
                if (!copy) return fmt::format("moved code undecodable at {}", cursor_);
                cursor_ += copy->decoded.length;
                copies.push_back(*copy);
            }
        }
        return {};
    }

    std::string compare(const Placed& original) const {
        const auto& copies = copies_.at(original.address);
        if (original.is(ZYDIS_MNEMONIC_CALL)) return compare_call(original, copies[0], copies[1]);
        if (original.is_short_only()) return compare_short(original, copies);
        if (original.is_branch()) return compare_branch(original, copies[0], original.decoded.mnemonic);
        return compare_plain(original, copies[0]);
    }

    std::string compare_plain(const Placed& original, const Placed& copy) const {
        if (original.bytes.size() != copy.bytes.size()) return "length differs";
        const bool is_nop = original.is(ZYDIS_MNEMONIC_NOP);
        const bool relative = original.absolute().has_value() && !is_nop;
        const auto& field = original.decoded.raw.disp;
        for (std::size_t i = 0; i < original.bytes.size(); ++i) {
            const bool in_field = relative && i >= field.offset && i < field.offset + 4U;
            if (!in_field && original.bytes[i] != copy.bytes[i]) return fmt::format("byte {} differs", i);
        }
        if (relative && original.absolute() != copy.absolute()) return "refers to another address";
        return {};
    }

    std::string compare_branch(const Placed& original, const Placed& copy, ZydisMnemonic mnemonic) const {
        if (!copy.is(mnemonic)) return "another kind of branch";
        const std::uint64_t target = *original.absolute();
        const bool inside = target >= original_.front().address && target < original_.back().end();
        if (!inside) return copy.absolute() == target ? "" : "goes elsewhere";
        const auto inner = copies_.find(target);
        if (inner == copies_.end()) return "goes into the middle of a moved instruction";
        return copy.absolute() == inner->second.front().address ? "" : "does not stay inside the moved code";
    }

    std::string compare_short(const Placed& original, const std::vector<Placed>& copies) const {
        if (!copies[0].is(original.decoded.mnemonic) || copies[0].absolute() != copies[2].address ||
            copies[0].decoded.address_width != original.decoded.address_width)
            return "does not select its near jump";
        if (!copies[1].is(ZYDIS_MNEMONIC_JMP) || copies[1].absolute() != copies[2].end())
            return "does not jump around its near jump";
        return compare_branch(original, copies[2], ZYDIS_MNEMONIC_JMP);
    }

    std::string compare_call(const Placed& original, const Placed& push, const Placed& jump) const {
        if (&original != &original_.back()) return "a call before the last instruction";
        const auto slot = push.absolute();
        if (!push.is(ZYDIS_MNEMONIC_PUSH) || push.operands[0].size != 64 || !slot ||
            *slot != place_ + code_.size() - 8)
            return "does not push its return address";
        std::uint64_t pushed = 0;
        std::memcpy(&pushed, code_.data() + code_.size() - 8, sizeof pushed);
        if (pushed != original.end()) return "returns elsewhere";
        if (!jump.is(ZYDIS_MNEMONIC_JMP)) return "is not followed by a jump";
        return same_target(original, jump) ? "" : "calls another target";
    }

    static bool same_target(const Placed& call, const Placed& jump) {
        const auto& was = call.operands[0];
        const auto& is = jump.operands[0];
        if (was.type != is.type || was.size != is.size) return false;
        if (call.absolute() || jump.absolute()) return call.absolute() == jump.absolute();
        if (was.type == ZYDIS_OPERAND_TYPE_REGISTER)
            return was.reg.value == is.reg.value && was.reg.value != ZYDIS_REGISTER_RSP;
        const std::int64_t pushed = was.mem.base == ZYDIS_REGISTER_RSP ? 8 : 0;
        return was.mem.segment == is.mem.segment && was.mem.base == is.mem.base &&
               was.mem.index == is.mem.index && was.mem.scale == is.mem.scale &&
               was.mem.disp.value + pushed == is.mem.disp.value;
    }

    std::string compare_end() const {
        const Placed& last = original_.back();
        if (!last.goes_on()) {
            const std::size_t slot = last.is(ZYDIS_MNEMONIC_CALL) ? 8 : 0;
            return cursor_ + slot == code_.size() ? "" : "there is more behind the last instruction";
        }
        const auto jump = decode(code_.subspan(cursor_), place_ + cursor_);
        if (!jump || !jump->is(ZYDIS_MNEMONIC_JMP) || jump->absolute() != last.end())
            return "does not go on behind the moved instructions";
        return jump->end() == place_ + code_.size() ? "" : "there is more behind the last jump";
    }

    std::vector<Placed> original_;
    std::span<const std::uint8_t> code_;
    std::uint64_t place_;
    std::map<std::uint64_t, std::vector<Placed>> copies_;
    std::size_t cursor_ = 0;
};

std::string check_form(std::span<const std::uint8_t> body, const MovedPrologue& moved) {
    const std::size_t patch = moved.jump_before > 0 ? kShortPatchSize : plan::kPatchSize;
    const std::size_t at_least = std::min<std::size_t>(body.size(), patch);
    if (moved.original.size() < at_least || moved.original.size() > plan::kMaxMoved)
        return fmt::format("{} bytes moved", moved.original.size());
    if (moved.original.size() > body.size() ||
        !std::equal(moved.original.begin(), moved.original.end(), body.begin()))
        return "not the original bytes";
    if (moved.code.empty() || moved.code.size() > kMaxMovedCode)
        return fmt::format("{} bytes of moved code", moved.code.size());
    for (const plan::Fixup& fixup : moved.fixups) {
        const std::size_t size = fixup.kind == plan::FixupKind::abs64 ? 8 : 4;
        if (fixup.code_offset > moved.code.size() || moved.code.size() - fixup.code_offset < size)
            return "fix-up outside the moved code";
    }
    return {};
}

}  // namespace

std::string difference(std::span<const std::uint8_t> body, std::uint64_t address,
                       const MovedPrologue& moved) {
    if (auto problem = check_form(body, moved); !problem.empty()) return problem;
    auto original = decode_all(moved.original, kBase + address);
    if (!original) return "moved bytes that are no instructions";
    const std::uint64_t place = kBase + address + kDistance;
    const auto code = placed_code(moved, kBase, place);
    if (!code) return {};
    return Comparison(std::move(*original), *code, place).run();
}

}  // namespace rdam::test
