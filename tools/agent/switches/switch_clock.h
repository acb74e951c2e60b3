// From the kernel's clock, by which perf's records are timed, to ticks of the trace's clock.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "libprobe/format/shared.h"
#include "tools/agent/process/process_facts.h"

namespace rdam::agent {

/// Between pairs of moments, each known by both clocks, time is taken to be linear: neither clock is
/// adjusted, but one hypervisor's idea of the other may be. Not thread-safe.
class SwitchClock {
  public:
    explicit SwitchClock(shm::Clock clock);

    /// The one that records are to be timed by.
    clockid_t source() const;
    std::uint64_t now_ns() const;  ///< of it

    /// Reads both clocks, if the last reading is long enough ago to determine their rates.
    void look();
    /// For the same moments: times are best between the last two looks.
    void set(const Moment& from, const Moment& to);

    /// Rises with `ns` between two looks.
    std::uint64_t ticks(std::uint64_t ns) const;

  private:
    bool same_;  ///< ticks are nanoseconds of source()
    Moment from_;
    Moment to_;
};

}  // namespace rdam::agent
