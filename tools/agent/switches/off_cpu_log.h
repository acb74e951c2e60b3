// From context switches to the times in which each thread was on no processor.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "tools/agent/switches/agent_times.h"
#include "tools/agent/switches/switch_rings.h"
#include "tools/trace/off_cpu.h"

namespace rdam::agent {

/// Keeps what is not in the file yet. Not thread-safe.
class OffCpuLog {
  public:
    struct Part {
        std::uint32_t tid = 0;
        trace::OffCpuEncoder intervals;
    };

    /// Records come in the order of time, those of the agent's own threads among them; `ticks` is that of the
    /// record. A record may come twice. A time in which a thread was preempted is cut where the agent got the
    /// processor that it left, and where the agent lost it: OffCpu::by_recorder. While
    /// records of some processor are missing a thread may have come and gone there unseen: intervals that
    /// reach into that time are left out.
    void add(const SwitchRecord& record, std::uint64_t ticks);

    /// The recording ends with the program: threads that are out stay out. Nothing can be added afterwards.
    void finish();

    /// The recording ends before the program: of threads that are out nothing is known.
    void stop();

    /// What is ready to be written, and no longer kept here.
    std::vector<Part> take_parts();

    /// Intervals that were dropped, because the parts before them had not been taken.
    std::uint64_t dropped() const { return dropped_; }

  private:
    struct Thread {
        RecordTime out;
        std::uint16_t cpu = 0;  ///< that it left
        bool is_out = false;
        bool preempted = false;
        trace::OffCpuEncoder intervals;
    };

    void leave(Thread& thread, const SwitchRecord& record, std::uint64_t ticks);
    bool end(Thread& thread);
    void put_parts(std::uint32_t tid, Thread& thread, RecordTime in, std::uint16_t cpu);
    void put(std::uint32_t tid, Thread& thread, const trace::OffCpu& interval);
    void seal(std::uint32_t tid, Thread& thread);
    void seal_all();
    void note_loss(const SwitchRecord& record);
    void forget_open();

    std::unordered_map<std::uint32_t, Thread> threads_;
    AgentTimes agent_;
    std::set<std::uint16_t> silent_;  ///< processors whose records are missing
    std::vector<Part> parts_;
    std::uint64_t intervals_ = 0;  ///< that are not in a part
    std::uint64_t dropped_ = 0;
};

}  // namespace rdam::agent
