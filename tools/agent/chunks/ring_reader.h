// The agent's end of the ring by which full chunks and ended threads come (shm::Control::ring).
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "libprobe/format/shared.h"

namespace rdam::agent {

/// Goes by its own place in the ring, whatever stands in the shared memory. Not thread-safe.
class RingReader {
  public:
    /// The process is at its begin. `control` must outlive this.
    explicit RingReader(shm::Control& control) : control_(control) {}

    /// The next entry, as read; 0: there is none yet. An entry that was announced but does not come is not
    /// waited for forever.
    std::uint32_t next();
    /// The last entry has been dealt with: the process sees that.
    void done();

    /// How many entries have been announced and not been dealt with; 0 where that is not known.
    std::uint32_t announced() const;

    /// Takes the entries that were skipped, and have come after all.
    std::vector<std::uint32_t> take_late();

    /// What the process reads of us is as it should be again.
    void tell_again() const { control_.ring_head.store(head_); }

  private:
    using Clock = std::chrono::steady_clock;

    shm::Control& control_;
    std::uint32_t head_ = 0;
    std::uint32_t awaited_ = ~0u;  ///< the place that was found empty last, and since when
    Clock::time_point since_;
    std::vector<std::uint32_t> skipped_;  ///< places that stayed empty
};

}  // namespace rdam::agent
