// Whether a function may be called with something in the flags of arithmetic.
#pragma once

#include <cstdint>
#include <span>

namespace rdam {

/// `body` is the code from its first instruction on. False: whatever they are, it does not matter, as in all
/// code that keeps to the System V convention: it sets them before it looks at them. True: it looks at one
/// first, or cannot be followed.
bool takes_flags(std::span<const std::uint8_t> body);

}  // namespace rdam
