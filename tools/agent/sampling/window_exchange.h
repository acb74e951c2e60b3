// What the agent and the process that opens its windows (window_keeper.h) have in common.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "libprobe/format/shared.h"
#include "tools/trace/event.h"

namespace rdam::agent {

/// Functions that wait are about each other: who unlocks lets somebody in.
inline constexpr std::uint8_t kWaitingGroup = 0;

/// What both know.
struct WindowExchange {
    static constexpr std::uint32_t kWindows = 1U << 12U;

    std::mutex mutex;
    std::atomic<std::uint32_t> ending = 0;  ///< a futex: the keeper closes its window and ends

    // Guarded by the mutex.
    std::uint32_t changes = 0;                              ///< counts up with each change of the functions
    std::uint32_t has_file = 0;                             ///< there have been events
    std::array<std::uint8_t, shm::kMaxFunctions> groups{};  ///< trace::FunctionInfo::window_group
    std::array<std::uint8_t, shm::kMaxFunctions> marked{};  ///< 1: sampled from the start on

    /// Windows on their way into the file: the keeper adds at the tail, the agent takes from the head.
    std::atomic<std::uint32_t> head = 0;
    std::atomic<std::uint32_t> tail = 0;
    std::vector<trace::Window> windows = std::vector<trace::Window>(kWindows);

    std::atomic<std::uint64_t> used_ns = 0;  ///< processor time of the keeper's process
};

}  // namespace rdam::agent
