// Whether a loop only reads memory until someone else changes it.
#pragma once

#include <span>
#include <vector>

#include "wrappers/relocate/instruction.h"

namespace rdam {

/// `loop`: its instructions, in any order. True if it reads memory, always at the same places, writes none,
/// and computes nothing that goes from one turn into the next. Thread-safe.
bool is_polling(const std::vector<relocation::Instruction>& loop);

}  // namespace rdam
