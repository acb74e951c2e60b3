// Relocates the first instructions of a function, so that a jump can take their place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libprobe/format/plan.h"
#include "tools/base/result.h"

namespace rdam {

/// The most bytes of MovedPrologue::code: all short instructions at their longest replacement, the last one a
/// call.
inline constexpr std::size_t kMaxMovedCode = 320;

/// Bytes of the short jump at the entry of a function whose 5-byte jump is in the padding before it.
inline constexpr std::uint32_t kShortPatchSize = 2;

/// Which original instruction a piece of moved code stands for: from `code` on, up to the next step's, the
/// moved code does what the original instruction does, and is in that one's frame.
struct MovedStep {
    std::uint32_t code = 0;  ///< offset in the moved code
    /// Offset of the instruction from the entry; of the last jump, where it goes.
    std::uint32_t original = 0;
    std::uint32_t pushed = 0;  ///< bytes by which its stack is deeper than where the instruction begins
};

/// The moved prologue of one function: executing `code` (after its fix-ups) from the first byte on does what
/// the original entry did, and ends with a jump to the first instruction that was not moved. No address in
/// `code` ever becomes a return address: a call in it pushes the original one, so that unwinders see original
/// code only.
///
/// Contract for the placement: `code` is put within ±2 GiB of the object's text and data, in memory that can
/// be executed and read, at any alignment. A rel32 fix-up that does not fit means that the placement was
/// wrong.
struct MovedPrologue {
    /// The bytes of the instructions moved, at most plan::kMaxMoved. Fewer than the patch only where the
    /// whole function is shorter: then the patch spills into padding, which is not part of this.
    std::vector<std::uint8_t> original;
    std::vector<std::uint8_t> code;  ///< at most kMaxMovedCode, before a description is appended
    std::vector<plan::Fixup> fixups;
    /// 0: the patch is a jump of plan::kPatchSize bytes at the entry. Otherwise that jump goes to so many
    /// bytes before the entry (5 to 124), into padding, and the patch is a short jump back to it.
    std::uint8_t jump_before = 0;
    bool call = false;  ///< the patch is a call in the place of one, whose target gets the return address
    std::vector<MovedStep> steps;  ///< by offset in the code, which is by offset in the original, too
    std::uint32_t executed = 0;    ///< bytes of the code that are instructions
    /// Where in the code a description of its frames is, if one was appended (describe_frames()); 0: none.
    std::uint32_t description = 0;
};

/// `body` holds the bytes of the whole function as in the file, `address` is the object-relative address of
/// body[0] (link-time virtual address). `padding` says how many bytes after the end of the function are known
/// to be unused (nop or int3 up to the next symbol, or after the section): a function shorter than the patch
/// may spill into them. `other_entries` are addresses inside the body that are reached from elsewhere
/// (symbols, landing pads, hot/cold parts jumping back), which must not fall into the moved bytes after the
/// first, or inside `padding_before`; other addresses are ignored.
///
/// `padding_before` holds the unused bytes right before the function, from where an instruction begins (the
/// end of what precedes) up to the entry; empty where that is not known. They serve where the jump at the
/// entry is refused: its place is then there, if all of them are nops or int3, at the beginning of one of
/// these, since the function before may run through them into this one (__memmove_chk does). Only
/// kShortPatchSize bytes are overwritten at the entry then, so that a function may be as short as that, or be
/// entered from elsewhere right behind them (mempcpy jumps behind the first instruction of memmove).
///
/// Only the patch's bytes are to be overwritten at the entry: the moved bytes behind them must stay as they
/// are. A loop that goes back to the first instruction and is short enough is moved as a whole, so that
/// its turns do not count as calls; a longer one is refused.
///
/// Limits: jumps into the first bytes through a table or a register cannot be seen (compilers do not make
/// them, computed `goto` right behind the entry apart), nor can restartable sequences that begin there.
///
/// Refuses, with the reason in words a user understands ("jumps back into its first 5 bytes at +3 (from
/// +17)", "shorter than the patch (3 of 5 bytes), and no padding behind it", "undecodable instruction at
/// +2"), what cannot be moved safely; the reason is that against the jump at the entry. Thread-safe; no
/// global state.
Result<MovedPrologue> move_prologue(std::span<const std::uint8_t> body, std::uint64_t address,
                                    std::uint32_t padding, std::span<const std::uint64_t> other_entries = {},
                                    std::span<const std::uint8_t> padding_before = {});

}  // namespace rdam
