// The agent's progress after the program's end, for those who wait for it.
#pragma once

#include <cstdint>

#include "libprobe/format/shared.h"

namespace rdam::agent {

/// The agent's name in `ps` and /proc/PID/comm contains the percentage: `rdam-agent 40%`. Only the program,
/// which may be gone, knows the shared memory.
class EndProgress {
  public:
    /// All that is in the ring now is to be written.
    explicit EndProgress(const shm::Control& control);

    /// After something has been taken from the ring.
    void show();

  private:
    const shm::Control& control_;
    std::uint32_t from_;
    std::uint32_t all_;
    std::uint32_t shown_ = 0;  ///< percent
};

}  // namespace rdam::agent
