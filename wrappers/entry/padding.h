// Room for a jump in the padding before a function.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace rdam::relocation {

/// How many bytes before the function at `address` a 5-byte jump can be placed: the closest place that a
/// 2-byte jump at the entry reaches. `padding` ends at the entry and begins where an instruction does.
///
/// Control flow may run through the padding into the function, and `entries` may lead into it. So the jump
/// begins where one of the padding's instructions does, and is always executed as a whole. Nothing if there
/// is no such place, or if the padding has anything other than nops and int3.
std::optional<std::uint8_t> room_for_jump(std::span<const std::uint8_t> padding, std::uint64_t address,
                                          std::span<const std::uint64_t> entries);

}  // namespace rdam::relocation
