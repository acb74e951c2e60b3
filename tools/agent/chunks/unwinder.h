// From a copy of a thread's stack to its frames, with libunwind over the copy and the objects' files.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "libprobe/format/events.h"
#include "tools/agent/memory/shared_memory.h"

namespace rdam::agent {

struct UnwoundStack {
    std::vector<std::uint64_t> frames;  ///< return addresses, the caller's first; none in librdam.so
    bool truncated = false;             ///< the copy ended before the stack did
};

struct UnwindState;

class Unwinder {
  public:
    explicit Unwinder(const ProcessDescription& process);
    Unwinder(const Unwinder&) = delete;
    Unwinder& operator=(const Unwinder&) = delete;

    /// An object loaded later. Those before it that had the same addresses are forgotten.
    void add(const ProcessObject& object);
    ~Unwinder();

    /// `entry` is the run-time address of the wrapped function; `stack` are the bytes behind `copy`.
    UnwoundStack unwind(std::uint64_t entry, const shm::StackCopy& copy, std::span<const std::uint8_t> stack);

  private:
    std::unique_ptr<UnwindState> state_;
};

}  // namespace rdam::agent
