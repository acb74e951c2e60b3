// A thread whose events are divided among the rows of the stacks on which it ran.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/trace/event.h"
#include "analyzer/trace/read/reader.h"
#include "wrappers/support/result.h"

namespace rdam::inputs {

/// The events of one thread, one after the other. Not thread-safe.
class Carrier {
  public:
    /// `off_cpu`: the thread's times off the processors.
    Carrier(std::uint32_t thread, trace::EventStream stream, std::vector<trace::OffCpu> off_cpu)
        : owner(thread), thread_(thread), stream_(std::move(stream)), off_cpu_(std::move(off_cpu)) {}

    std::uint32_t thread() const { return thread_; }
    /// Makes at least one event the next one, unless there are no more: false. `gap` is set if events are
    /// missing before it.
    Result<bool> fetch(bool& gap);
    const trace::Event& next() const { return events_[at_]; }
    void take() { ++at_; }

    /// Calls `sink` for the parts of its times off the processors that lie in `from` to `to` and have not
    /// been asked for before; those before `from` are passed over.
    template <class Sink>
    void off_cpu(std::uint64_t from, std::uint64_t to, const Sink& sink);

    std::uint64_t stack = 0;              ///< on which the next event is
    std::uint32_t owner;                  ///< that began on it; UINT32_MAX: no thread did
    bool stack_known = true;              ///< false: events are missing, and it has not switched since
    std::uint64_t since = 0;              ///< ticks: when its events on this stack began, or go on
    std::uint64_t off_from = 0;           ///< ticks: up to then its times off the processors are given away
    bool goes_on = false;                 ///< it has not switched since it had its last turn
    std::uint32_t tree_row = UINT32_MAX;  ///< the row in which its last sampled call tree began

  private:
    std::uint32_t thread_;
    trace::EventStream stream_;
    std::span<const trace::Event> events_;
    std::size_t at_ = 0;
    std::vector<trace::OffCpu> off_cpu_;
    std::size_t next_off_ = 0;
};

template <class Sink>
void Carrier::off_cpu(std::uint64_t from, std::uint64_t to, const Sink& sink) {
    for (; next_off_ < off_cpu_.size() && off_cpu_[next_off_].out < to; ++next_off_) {
        trace::OffCpu part = off_cpu_[next_off_];
        part.out = std::max(part.out, from);
        part.in = std::min(part.in, to);
        if (part.out < part.in) sink(part);
        // The rest is another row's.
        if (off_cpu_[next_off_].in > to) return;
    }
}

}  // namespace rdam::inputs
