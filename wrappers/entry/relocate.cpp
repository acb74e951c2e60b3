#include "wrappers/entry/relocate.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libprobe/format/plan.h"
#include "tools/base/result.h"
#include "wrappers/entry/entry_points.h"
#include "wrappers/entry/instruction.h"

namespace rdam::relocation {
namespace {

// Encodes relocated instructions so that they do the same at their new address.

struct MovedCode {
    std::vector<std::uint8_t> bytes;
    std::vector<plan::Fixup> fixups;
    std::vector<MovedStep> steps;
    std::uint32_t executed = 0;  ///< bytes that are instructions
};

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
        WithOperands call;
        ZydisEncoderRequest request;
        const bool converted =
            call.decode(instruction.bytes) &&
            ZYAN_SUCCESS(ZydisEncoderDecodedInstructionToEncoderRequest(
                &call.instruction, call.operands.data(), call.instruction.operand_count_visible, &request));
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
        const auto found = std::ranges::lower_bound(moved_, offset, {}, &Instruction::offset);
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

/// `moved` are the function's first instructions, without gaps; `address` is the object-relative address of
/// the first. Jumps between them stay between their copies; everything else they refer to is where it was. A
/// call must be the last one. The code ends with a jump behind the last instruction where that one can go on.
/// Fails, with the reason, on an instruction that has no equivalent elsewhere.
Result<MovedCode> emit_moved(std::span<const Instruction> moved, std::uint64_t address) {
    return Emitter(moved, address).run();
}

}  // namespace
}  // namespace rdam::relocation

namespace rdam {
namespace {

using relocation::Decoded;
using relocation::DecodeError;
using relocation::Flow;
using relocation::Instruction;

/// Offsets are 32 bits wide.
constexpr std::size_t kMaxBody = std::size_t{1} << 31;

enum class ReferenceKind : std::uint8_t { jump, call, address };

/// An instruction of the function that names one of its first bytes.
struct Reference {
    std::uint32_t source = 0;      ///< offset of the instruction
    std::uint32_t source_end = 0;  ///< offset behind it
    std::uint32_t target = 0;      ///< offset referred to, < head
    ReferenceKind kind = ReferenceKind::jump;
};

class Scan {
  public:
    Scan(std::span<const std::uint8_t> body, std::uint32_t head)
        : body_(body), head_(std::min<std::uint64_t>(head, body.size())), visited_(body.size()) {}

    std::vector<Reference> run() {
        sweep(0);
        while (!starts_.empty()) {
            const std::uint32_t start = starts_.back();
            starts_.pop_back();
            sweep(start);
        }
        std::ranges::sort(found_, {}, &Reference::source);
        return std::move(found_);
    }

  private:
    void sweep(std::uint32_t offset) {
        while (offset < body_.size() && !visited_[offset]) {
            visited_[offset] = true;
            const Decoded decoded = relocation::decode_at(body_, offset);
            if (decoded.instruction) note(*decoded.instruction);
            offset += decoded.instruction ? decoded.instruction->decoded.length : 1U;
        }
    }

    void note(const Instruction& instruction) {
        if (const auto target = instruction.branch_target(); target && *target < body_.size()) {
            const bool is_call = instruction.flow == Flow::call;
            add(instruction, *target, is_call ? ReferenceKind::call : ReferenceKind::jump);
            if (!visited_[*target]) starts_.push_back(static_cast<std::uint32_t>(*target));
        }
        if (const auto target = instruction.memory_target(); target && !is_harmless(instruction, *target))
            add(instruction, *target, ReferenceKind::address);
    }

    /// Position-independent code of the large model begins with the address of its own `lea`: a base to add
    /// to.
    static bool is_harmless(const Instruction& instruction, std::uint64_t target) {
        const bool is_base =
            instruction.decoded.mnemonic == ZYDIS_MNEMONIC_LEA && target == instruction.offset;
        return is_base || instruction.is_nop();
    }

    void add(const Instruction& instruction, std::uint64_t target, ReferenceKind kind) {
        if (target < head_)
            found_.push_back(
                {instruction.offset, instruction.end(), static_cast<std::uint32_t>(target), kind});
    }

    std::span<const std::uint8_t> body_;
    std::uint64_t head_;
    std::vector<bool> visited_;
    std::vector<std::uint32_t> starts_;
    std::vector<Reference> found_;
};

/// Every direct reference from within `body` to its first `head` bytes, by ascending source. Decodes linearly
/// from the first byte, steps over what is no instruction, and decodes once more from every branch target
/// that the sweep had taken for the middle of an instruction (data between the code puts a sweep out of
/// step). Jumps through tables and registers are invisible here.
std::vector<Reference> references_to_head(std::span<const std::uint8_t> body, std::uint32_t head) {
    return Scan(body, head).run();
}

/// Why the region cannot be moved. Where it would do to move the instruction that jumps back as well,
/// `extend_to` is the offset behind it.
struct Conflict {
    Error error;
    std::optional<std::uint32_t> extend_to;
};

Conflict conflict_of(tl::unexpected<Error> error, std::optional<std::uint32_t> extend_to = std::nullopt) {
    return {std::move(error).value(), extend_to};
}

using Region = std::vector<Instruction>;

bool starts_instruction(const Region& region, std::uint32_t offset) {
    return std::ranges::any_of(region, [offset](const Instruction& i) { return i.offset == offset; });
}

Result<Region> decode_region(std::span<const std::uint8_t> body, std::uint32_t at_least) {
    Region region;
    std::uint32_t offset = 0;
    while (offset < at_least && offset < body.size()) {
        const Decoded decoded = relocation::decode_at(body, offset);
        if (!decoded.instruction) {
            if (decoded.error == DecodeError::cut_off)
                return fail("its end cuts the instruction at +{} in two", offset);
            return fail("undecodable instruction at +{}", offset);
        }
        region.push_back(*decoded.instruction);
        offset = decoded.instruction->end();
    }
    return region;
}

std::optional<Conflict> jump_conflict(const Region& region, const Reference& reference,
                                      std::uint32_t closed) {
    const std::uint32_t size = region.back().end();
    if (reference.source < size && starts_instruction(region, reference.source)) {
        if (starts_instruction(region, reference.target)) return std::nullopt;
        return conflict_of(
            fail("jumps into the middle of its instruction before +{} (from +{})", size, reference.source));
    }
    if (reference.target >= closed) return std::nullopt;
    if (reference.target == 0)
        return conflict_of(fail("loops back to its first instruction (from +{})", reference.source),
                           reference.source_end);
    return conflict_of(fail("jumps back into its first {} bytes at +{} (from +{})", size, reference.target,
                            reference.source),
                       reference.source_end);
}

std::optional<Conflict> reference_conflict(const Region& region, const Reference& reference,
                                           std::uint32_t closed) {
    const std::uint32_t size = region.back().end();
    if (reference.target >= size) return std::nullopt;
    if (reference.kind == ReferenceKind::jump) return jump_conflict(region, reference, closed);
    if (reference.target == 0 || reference.target >= closed) return std::nullopt;
    const char* verb = reference.kind == ReferenceKind::call ? "calls" : "uses the address of";
    return conflict_of(fail("{} its own code at +{}, within its first {} bytes (from +{})", verb,
                            reference.target, size, reference.source));
}

std::optional<Conflict> call_conflict(const Region& region) {
    for (const Instruction& i : region) {
        const bool returns =
            i.flow == Flow::call || i.flow == Flow::indirect_call || i.flow == Flow::far_call;
        if (returns && i.end() != region.back().end())
            return conflict_of(
                fail("its call at +{} returns into its first {} bytes", i.offset, region.back().end()));
    }
    return std::nullopt;
}

/// What makes the region unfit: everything that gets into its first `closed` bytes other than through the
/// first.
std::optional<Conflict> find_conflict(const Region& region, std::uint32_t closed,
                                      std::span<const Reference> references,
                                      std::span<const std::uint64_t> other_entries, std::uint64_t address) {
    if (auto conflict = call_conflict(region)) return conflict;
    for (const std::uint64_t entry : other_entries) {
        const std::uint64_t offset = entry - address;
        if (offset > 0 && offset < closed)
            return conflict_of(fail("is entered from elsewhere at +{}, within its first {} bytes", offset,
                                    region.back().end()));
    }
    for (const Reference& reference : references)
        if (auto conflict = reference_conflict(region, reference, closed)) return conflict;
    return std::nullopt;
}

/// A function, and how many of its first bytes get overwritten.
struct Task {
    std::span<const std::uint8_t> body;
    std::uint64_t address = 0;
    std::uint32_t padding = 0;
    std::span<const std::uint64_t> other_entries;
    std::uint32_t patch_size = plan::kPatchSize;

    /// The region's bytes after the patch stay unchanged, but code that enters a loop there would run the
    /// original of a jump whose copy stays inside. A short patch is for functions that are entered right
    /// after it.
    std::uint32_t closed_part(const Region& region, bool is_loop) const {
        return is_loop || patch_size == plan::kPatchSize ? region.back().end() : patch_size;
    }
};

/// The shortest run of first instructions that covers the patch and that is not entered from elsewhere. A
/// small loop back to the first instruction is moved as a whole; if that fails, the reason is that of the
/// shortest run.
Result<Region> choose_region(const Task& task) {
    const auto references = references_to_head(task.body, plan::kMaxMoved);
    std::optional<Error> first_reason;
    std::uint32_t at_least = task.patch_size;
    for (;;) {
        auto region = decode_region(task.body, at_least);
        if (!region) return first_reason ? Result<Region>(tl::unexpected(*first_reason)) : region;
        const std::uint32_t closed = task.closed_part(*region, at_least > task.patch_size);
        const auto conflict = find_conflict(*region, closed, references, task.other_entries, task.address);
        if (!conflict) return region;
        if (!first_reason) first_reason = conflict->error;
        if (!conflict->extend_to || *conflict->extend_to > plan::kMaxMoved ||
            *conflict->extend_to <= region->back().end())
            return tl::unexpected(*first_reason);
        at_least = *conflict->extend_to;
    }
}

Result<void> check_size(const Task& task) {
    if (task.body.empty()) return fail("has no code in the file");
    if (task.body.size() > kMaxBody) return fail("larger than {} bytes", kMaxBody);
    if (task.body.size() + task.padding < task.patch_size)
        return fail("shorter than the patch ({} of {} bytes), without padding behind it",
                    task.body.size() + task.padding, task.patch_size);
    return {};
}

Result<MovedPrologue> move_for_patch(const Task& task) {
    if (auto fits = check_size(task); !fits) return tl::unexpected(fits.error());
    const auto region = choose_region(task);
    if (!region) return tl::unexpected(region.error());
    const Instruction& last = region->back();
    if (last.end() < task.patch_size && last.falls_through())
        return fail("shorter than the patch, and continues into the padding behind it");
    auto code = relocation::emit_moved(*region, task.address);
    if (!code) return tl::unexpected(code.error());
    const auto original = task.body.first(last.end());
    return MovedPrologue{.original = {original.begin(), original.end()},
                         .code = std::move(code->bytes),
                         .fixups = std::move(code->fixups),
                         .steps = std::move(code->steps),
                         .executed = code->executed};
}

}  // namespace

Result<MovedPrologue> move_prologue(std::span<const std::uint8_t> body, std::uint64_t address,
                                    std::uint32_t padding, std::span<const std::uint64_t> other_entries,
                                    std::span<const std::uint8_t> padding_before) {
    Task task{body, address, padding, other_entries};
    auto moved = move_for_patch(task);
    if (moved) return moved;
    const auto before = room_for_jump(padding_before, address, other_entries);
    if (!before) return moved;
    task.patch_size = kShortPatchSize;
    auto moved_less = move_for_patch(task);
    if (!moved_less) return moved;
    moved_less->jump_before = *before;
    return moved_less;
}

}  // namespace rdam
