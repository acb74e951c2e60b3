// One page of the shared memory that a process's fork children have, too: by it they reach their parent's
// agent, whatever root directory, network or PID namespace they have been given. A child gives it back as
// soon as it has memory of its own.
//
// A child can spoil nothing here but this: the agent believes no word of it before it has seen the child.
#pragma once

#include <atomic>
#include <cstdint>

namespace rdam::shm {

/// What a child is doing, and what becomes of it.
enum class BirthState : std::uint32_t {
    none = 0,
    writing = 0x1e2d3c4b,  ///< a child has the place, and writes what it asks for
    asked = 0x2d4b8796,
    started = 0x4b96e1a5,  ///< by the agent: the child has an agent of its own now
    refused = 0x87e15a3c,  ///< by the agent: no agent could be started for it
};

/// What a child asks for.
struct Birth {
    std::atomic<BirthState> state_futex;
    std::uint32_t pid;    ///< in its own PID namespace
    std::int32_t memory;  ///< its descriptor of its own shared memory
    std::uint32_t reserved;
    std::uint64_t nonce;  ///< Control::nonce of that memory
};

inline constexpr std::uint32_t kBirths = 32;  ///< children that ask at the same time

/// `holder`, by set_robust_list(2): the id of the agent's first thread, in its PID namespace, while it serves
/// the process. The kernel sets kHolderDied when it is killed.
inline constexpr std::uint32_t kHolderDied = 0x40000000;

struct Births {
    std::atomic<std::uint32_t> called_futex;  ///< counts up when somebody begins to wait for the agent, which
                                              ///< is out of the program's way till then
    std::atomic<std::uint32_t> holder;
    Birth children[kBirths];
};

}  // namespace rdam::shm
