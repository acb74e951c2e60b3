// Sums of a thread's context switches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tools/trace/clock.h"
#include "tools/trace/event.h"

namespace rdam::score {

/// Times in ticks.
struct OffCpuTimes {
    std::uint64_t blocked = 0;    ///< waiting for something
    std::uint64_t preempted = 0;  ///< waiting for a processor that others had
    // Pauses (calls/off_cpu_pauses.h):
    std::uint64_t recorder = 0;   ///< … that the recorder's own threads had
    std::uint64_t crowded = 0;    ///< … that other threads of the program had
    std::uint64_t in_pauses = 0;  ///< off, while the recorder held the thread to do its work
    std::uint64_t switches = 0;   ///< how often it was off; by preemption:
    std::uint64_t preemptions = 0;
};

/// The sums over the parts in `range`. `intervals` as returned by calls::Absences::thread().
OffCpuTimes sum_off_cpu(std::span<const trace::OffCpu> intervals, const trace::TickRange& range);

// How long a thread was off the processor up to a moment: the difference of two moments is a call's part of
// it.

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
