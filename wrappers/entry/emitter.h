// Encodes relocated instructions so that they do the same at their new address.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libprobe/format/plan.h"
#include "tools/base/result.h"
#include "wrappers/entry/instruction.h"
#include "wrappers/entry/relocate.h"

namespace rdam::relocation {

struct MovedCode {
    std::vector<std::uint8_t> bytes;
    std::vector<plan::Fixup> fixups;
    std::vector<MovedStep> steps;
    std::uint32_t executed = 0;  ///< bytes that are instructions
};

/// `moved` are the function's first instructions, without gaps; `address` is the object-relative address of
/// the first. Jumps between them stay between their copies; everything else they refer to is where it was. A
/// call must be the last one. The code ends with a jump behind the last instruction where that one can go on.
/// Fails, with the reason, on an instruction that has no equivalent elsewhere.
Result<MovedCode> emit_moved(std::span<const Instruction> moved, std::uint64_t address);

}  // namespace rdam::relocation
