#include "wrappers/relocate/relocate.h"

#include <algorithm>
#include <optional>

#include "wrappers/relocate/branch_scan.h"
#include "wrappers/relocate/emitter.h"
#include "wrappers/relocate/instruction.h"

namespace rdam {
namespace {

using relocation::Decoded;
using relocation::DecodeError;
using relocation::Flow;
using relocation::Instruction;
using relocation::Reference;
using relocation::ReferenceKind;

/// Offsets are 32 bits wide.
constexpr std::size_t kMaxBody = std::size_t{1} << 31;

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
    return std::any_of(region.begin(), region.end(),
                       [offset](const Instruction& i) { return i.offset == offset; });
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

std::optional<Conflict> jump_conflict(const Region& region, const Reference& reference) {
    const std::uint32_t size = region.back().end();
    if (reference.source < size && starts_instruction(region, reference.source)) {
        if (starts_instruction(region, reference.target)) return std::nullopt;
        return conflict_of(
            fail("jumps into the middle of its instruction before +{} (from +{})", size, reference.source));
    }
    if (reference.target == 0)
        return conflict_of(fail("loops back to its first instruction (from +{})", reference.source),
                           reference.source_end);
    return conflict_of(fail("jumps back into its first {} bytes at +{} (from +{})", size, reference.target,
                            reference.source),
                       reference.source_end);
}

std::optional<Conflict> reference_conflict(const Region& region, const Reference& reference) {
    const std::uint32_t size = region.back().end();
    if (reference.target >= size) return std::nullopt;
    if (reference.kind == ReferenceKind::jump) return jump_conflict(region, reference);
    if (reference.target == 0) return std::nullopt;
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

/// What makes the region unfit: everything that gets into it other than through its first byte. The region's
/// bytes behind the patch stay as they are, but who gets there would run the original of a jump whose copy
/// stays inside.
std::optional<Conflict> find_conflict(const Region& region, std::span<const Reference> references,
                                      std::span<const std::uint64_t> other_entries, std::uint64_t address) {
    if (auto conflict = call_conflict(region)) return conflict;
    for (const std::uint64_t entry : other_entries) {
        const std::uint64_t offset = entry - address;
        if (offset > 0 && offset < region.back().end())
            return conflict_of(fail("is entered from elsewhere at +{}, within its first {} bytes", offset,
                                    region.back().end()));
    }
    for (const Reference& reference : references)
        if (auto conflict = reference_conflict(region, reference)) return conflict;
    return std::nullopt;
}

/// The shortest run of first instructions that covers the patch and that nobody gets into. A small loop back
/// to the first instruction is moved as a whole; if that does not work out, the reason is that of the
/// shortest run.
Result<Region> choose_region(std::span<const std::uint8_t> body, std::uint64_t address,
                             std::span<const std::uint64_t> other_entries) {
    const auto references = relocation::references_to_head(body, plan::kMaxMoved);
    std::optional<Error> first_reason;
    std::uint32_t at_least = plan::kPatchSize;
    for (;;) {
        auto region = decode_region(body, at_least);
        if (!region) return first_reason ? Result<Region>(tl::unexpected(*first_reason)) : region;
        const auto conflict = find_conflict(*region, references, other_entries, address);
        if (!conflict) return region;
        if (!first_reason) first_reason = conflict->error;
        if (!conflict->extend_to || *conflict->extend_to > plan::kMaxMoved ||
            *conflict->extend_to <= region->back().end())
            return tl::unexpected(*first_reason);
        at_least = *conflict->extend_to;
    }
}

Result<void> check_size(std::span<const std::uint8_t> body, std::uint32_t padding) {
    if (body.empty()) return fail("has no code in the file");
    if (body.size() > kMaxBody) return fail("larger than {} bytes", kMaxBody);
    if (body.size() + padding < plan::kPatchSize)
        return fail("shorter than the patch ({} of {} bytes), and no padding behind it",
                    body.size() + padding, plan::kPatchSize);
    return {};
}

}  // namespace

Result<MovedPrologue> move_prologue(std::span<const std::uint8_t> body, std::uint64_t address,
                                    std::uint32_t padding, std::span<const std::uint64_t> other_entries) {
    if (auto fits = check_size(body, padding); !fits) return tl::unexpected(fits.error());
    const auto region = choose_region(body, address, other_entries);
    if (!region) return tl::unexpected(region.error());
    const Instruction& last = region->back();
    if (last.end() < plan::kPatchSize && last.falls_through())
        return fail("shorter than the patch, and runs on into the padding behind it");
    auto code = relocation::emit_moved(*region, address);
    if (!code) return tl::unexpected(code.error());
    const auto original = body.first(last.end());
    return MovedPrologue{{original.begin(), original.end()}, std::move(code->bytes), std::move(code->fixups)};
}

}  // namespace rdam
