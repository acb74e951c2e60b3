// Times in which the recorder's threads, or other threads of the program, occupied a thread's processor, as
// pauses among the thread's events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/trace/event.h"

namespace rdam::calls {

/// Works on one thread. The matcher, or a window in front of it, gets the output instead of the events.
class OffCpuPauses {
  public:
    /// `intervals` as returned by Absences::thread(); they must outlive this object. Intervals caused by
    /// other programs, or by the thread itself, are skipped. An event with a timestamp above `latest`
    /// (KnownEnds) has no valid time.
    OffCpuPauses(std::span<const trace::OffCpu> intervals, std::uint64_t latest);

    /// `events`, and in front of each the pauses that began before it. Valid until the next call, and as long
    /// as `events`.
    std::span<const trace::Event> among(std::span<const trace::Event> events);

    /// The pauses after the last event. Valid as long as this object.
    std::span<const trace::Event> rest();

    /// Counts the ticks for which the thread was off-CPU during the pauses among `events` in which the
    /// recorder held it to work, not to wait. Adds up over calls, which must be in the order of time.
    void note_pauses(std::span<const trace::Event> events);
    std::uint64_t off_cpu_in_pauses() const { return off_cpu_in_pauses_; }

  private:
    bool due(const trace::Event& event) const {
        return next_ < pauses_.size() && pauses_[next_].tsc < event.tsc && event.tsc <= latest_;
    }

    std::span<const trace::OffCpu> intervals_;
    std::size_t behind_ = 0;  ///< the first of them that is not over when the last pause begins
    std::uint64_t off_cpu_in_pauses_ = 0;
    std::vector<trace::Event> pauses_;
    std::size_t next_ = 0;
    std::uint64_t latest_;
    std::vector<trace::Event> merged_;
};

}  // namespace rdam::calls
