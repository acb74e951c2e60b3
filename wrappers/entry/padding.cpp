#include "wrappers/entry/padding.h"

#include <algorithm>
#include <vector>

#include "libprobe/format/plan.h"
#include "wrappers/entry/instruction.h"

namespace rdam::relocation {
namespace {

/// A short jump goes back by 128 bytes at most, its own two included.
constexpr std::size_t kMaxBefore = 124;

bool is_padding(const Instruction& instruction) {
    return instruction.is_nop() || instruction.decoded.mnemonic == ZYDIS_MNEMONIC_INT3;
}

}  // namespace

std::optional<std::uint8_t> room_for_jump(std::span<const std::uint8_t> padding, std::uint64_t address,
                                          std::span<const std::uint64_t> entries) {
    std::vector<std::uint32_t> starts;
    std::optional<std::uint32_t> jump;
    for (std::uint32_t offset = 0; offset < padding.size();) {
        const Decoded decoded = decode_at(padding, offset);
        if (!decoded.instruction || !is_padding(*decoded.instruction)) return std::nullopt;
        starts.push_back(offset);
        const std::size_t before = padding.size() - offset;
        if (before >= plan::kPatchSize && before <= kMaxBefore) jump = offset;
        offset = decoded.instruction->end();
    }
    if (!jump) return std::nullopt;
    const std::uint64_t begin = address - padding.size();
    for (const std::uint64_t entry : entries) {
        const std::uint64_t offset = entry - begin;
        if (offset >= padding.size()) continue;
        const bool runs_to_jump = offset <= *jump && std::ranges::binary_search(starts, offset);
        if (!runs_to_jump) return std::nullopt;
    }
    return static_cast<std::uint8_t>(padding.size() - *jump);
}

}  // namespace rdam::relocation
