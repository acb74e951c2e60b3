// Memory for the chunks of a process under a system call filter: its threads can neither ask the kernel for
// it nor wait for us, so there is always some ahead of them.
#pragma once

#include <cstdint>

#include "tools/agent/memory/shared_memory.h"

namespace rdam::agent {

class ReadyChunks {
  public:
    /// `shared` must outlive this.
    explicit ReadyChunks(const SharedMemory& shared) : shared_(shared) {}

    /// To be called ten times a second, or more often.
    void look();

  private:
    const SharedMemory& shared_;
    std::uint32_t ready_ = 0;
    std::uint32_t taken_ = 0;  ///< when we looked last
    bool out_of_memory_ = false;
};

}  // namespace rdam::agent
