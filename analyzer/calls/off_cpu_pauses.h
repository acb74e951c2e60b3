// Times in which the recorder's threads, or others of the program, had a thread's processor: pauses among
// the thread's events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/trace/event.h"

namespace rdam::calls {

/// Of one thread. What comes out is for the matcher, or a window in front of it, in place of the events.
class OffCpuPauses {
  public:
    /// `intervals` as Absences::thread() gives them; those that are somebody else's doing, or the thread's
    /// own, are passed over.
    /// An event with a time-stamp above `latest` (latest_possible()) tells no time.
    OffCpuPauses(std::span<const trace::OffCpu> intervals, std::uint64_t latest);

    /// `events`, and in front of each the pauses that began before it. Valid until the next call, and as long
    /// as `events`.
    std::span<const trace::Event> among(std::span<const trace::Event> events);

    /// Those behind the last event. Valid as long as this.
    std::span<const trace::Event> rest();

  private:
    bool due(const trace::Event& event) const {
        return next_ < pauses_.size() && pauses_[next_].tsc < event.tsc && event.tsc <= latest_;
    }

    std::vector<trace::Event> pauses_;
    std::size_t next_ = 0;
    std::uint64_t latest_;
    std::vector<trace::Event> merged_;
};

}  // namespace rdam::calls
