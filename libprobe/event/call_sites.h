// The places from which functions are called without a frame on the stack (CallSite, state.h).
#pragma once

#include <cstdint>

#include "libprobe/base/state.h"

namespace rdam::probe {

/// The function whose pad a return address leads to; nullptr: it leads to no pad.
FunctionEntry* entry_of_pad(std::uint64_t return_address);

/// What stands on the stack at `word`'s place without the recorder: the caller's address in place of a pad's.
std::uint64_t without_pad(std::uint64_t word);

/// The code from `low` to `high` is gone: calls from it and of its functions are over, and their CallSites
/// are free. By one thread at a time, with signals blocked, before globals.addresses forgets the functions.
void forget_call_sites(std::uint64_t low, std::uint64_t high);

}  // namespace rdam::probe
