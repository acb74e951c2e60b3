// Two threads of a made-up program.
#pragma once

#include <cstdint>

namespace rdam::test {

inline constexpr std::uint32_t kTid = 7, kOther = 8;

}  // namespace rdam::test
