// Does moved code mean what the original meant? Decided by decoding both, without running either.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "wrappers/entry/relocate.h"

namespace rdam::test {

/// Empty if it does, otherwise what differs first. `body` and `address` are what move_prologue() was given.
/// Knows nothing of how the moved code was made: instruction by instruction it compares bytes, and the
/// absolute addresses that relative operands come to at a place 64 MiB away. References that do not reach
/// from there are not compared.
std::string difference(std::span<const std::uint8_t> body, std::uint64_t address, const MovedPrologue& moved);

}  // namespace rdam::test
