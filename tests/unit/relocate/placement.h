// Puts moved code somewhere, as the recorder does: copy, then fix-ups.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "wrappers/entry/relocate.h"

namespace rdam::test {

/// The bytes of `moved.code` as they have to be at run-time address `place`, when the object is loaded at
/// `base`. Empty when a reference does not reach its target from there.
std::optional<std::vector<std::uint8_t>> placed_code(const MovedPrologue& moved, std::uint64_t base,
                                                     std::uint64_t place);

}  // namespace rdam::test
