// How long a thread was off the processor up to a moment: the difference of two moments is a call's part of
// it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tools/trace/event.h"

namespace rdam::score {

class OffTimes {
  public:
    /// Ticks.
    struct Sum {
        std::uint64_t blocked = 0;    ///< waiting for something
        std::uint64_t preempted = 0;  ///< waiting for a processor that others had
    };

    /// `intervals` as calls::Absences::thread() gives them. Those in which the recorder's threads, or others
    /// of the program, had the processor are left out: they are in no call's time.
    explicit OffTimes(std::span<const trace::OffCpu> intervals);

    /// From the thread's start to `tsc`.
    Sum until(std::uint64_t tsc) const;

  private:
    std::vector<trace::OffCpu> intervals_;
    std::vector<Sum> before_;  ///< before each interval, and behind the last
};

}  // namespace rdam::score
