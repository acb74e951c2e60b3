// Which function a recorded wait belongs to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tools/trace/event.h"

namespace rdam::trace {

inline constexpr std::uint32_t kNoFunction = UINT32_MAX;

/// By function: the index of the one whose waits it is (FunctionInfo::wait_of); kNoFunction: it is a
/// function, or that one is not there. Empty: there are no waits among them.
std::vector<std::uint32_t> waiters(std::span<const FunctionInfo> functions);

}  // namespace rdam::trace
