// When the recorder's own threads had which processor: what of a thread's wait for one is the recorder's
// doing.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tools/agent/switches/switch_rings.h"

namespace rdam::agent {

/// A moment of a record: in ticks of the trace's clock, and in nanoseconds of the kernel's.
struct RecordTime {
    std::uint64_t ticks = 0;
    std::uint64_t ns = 0;
};

/// Keeps times of a processor only while a thread waits for it. Not thread-safe.
class AgentTimes {
  public:
    struct Time {
        RecordTime begin;
        RecordTime end;
    };

    /// A record of one of the agent's threads. Records come in the order of time; one may come twice.
    void add(const SwitchRecord& record, std::uint64_t ticks);
    /// Records are missing: which thread has which processor is not known until the next records.
    void forget();

    /// A thread begins to wait for the processor, and has ended to.
    void wait_for(std::uint16_t cpu) { ++processors_[cpu].waiting; }
    void stop_waiting_for(std::uint16_t cpu);

    /// The parts of a wait for the processor, from `from` to `to`, that are the agent's: in order, apart from
    /// each other. The time that the kernel takes to switch from one thread to the next counts as the
    /// agent's. For waits whose end has not been reported.
    std::vector<Time> within(std::uint16_t cpu, RecordTime from, RecordTime to) const;

  private:
    struct Processor {
        std::uint32_t waiting = 0;
        bool on = false;
        RecordTime since;          ///< if it is on
        std::vector<Time> before;  ///< times that have ended, while a thread waits
    };

    std::unordered_map<std::uint16_t, Processor> processors_;
};

}  // namespace rdam::agent
