// Room for a jump in the padding before a function.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace rdam::relocation {

/// How many bytes before the function at `address` a 5-byte jump can stand, the closest place of all that a
/// 2-byte jump at the entry reaches. `padding` ends at the entry and begins where an instruction does.
///
/// Padding may be run through on the way into the function, and `entries` may lead into it: the jump begins
/// where one of the padding's instructions does, so that whoever comes by gets to all of it. Nothing where
/// there is no such place, or where the padding is anything else than nops and int3.
std::optional<std::uint8_t> room_for_jump(std::span<const std::uint8_t> padding, std::uint64_t address,
                                          std::span<const std::uint64_t> entries);

}  // namespace rdam::relocation
