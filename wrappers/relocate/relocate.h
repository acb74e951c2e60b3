// Moves the first instructions of a function somewhere else, so that a jump can stand in their place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libprobe/format/plan.h"
#include "wrappers/support/result.h"

namespace rdam {

/// The moved prologue of one function: executing `code` (after its fix-ups) from the first byte on does what the
/// original entry did, and ends with a jump to the first instruction that was not moved.
///
/// Contract for the placement: `code` is put within ±2 GiB of the object's text, in executable memory.
struct MovedPrologue {
    std::vector<std::uint8_t> original;  ///< bytes of the instructions moved: at least plan::kPatchSize, at most plan::kMaxMoved
    std::vector<std::uint8_t> code;
    std::vector<plan::Fixup> fixups;
};

/// `body` holds the bytes of the whole function as they stand in the file, `address` is the object-relative
/// address of body[0] (link-time virtual address). `padding` says how many bytes behind the end of the function
/// are known to belong to nobody (nop or int3 up to the next symbol): a function shorter than the patch may
/// spill into them. `other_entries` are addresses inside the body that are reached from elsewhere (symbols,
/// landing pads, hot/cold parts jumping back), which must not fall into the overwritten bytes after the first.
///
/// Refuses, with the reason in words a user understands ("jumps back into its first 5 bytes at +3", "shorter than
/// the patch, and no padding behind it", "undecodable instruction at +2"), what cannot be moved safely.
/// Thread-safe; no global state.
Result<MovedPrologue> move_prologue(std::span<const std::uint8_t> body, std::uint64_t address,
                                    std::uint32_t padding,
                                    std::span<const std::uint64_t> other_entries = {});

}  // namespace rdam
