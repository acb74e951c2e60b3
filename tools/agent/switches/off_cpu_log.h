// From context switches to the times in which each thread was on no processor.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "tools/agent/switches/switch_rings.h"
#include "tools/trace/side_tables.h"

namespace rdam::agent {

// When the recorder's own threads had which processor: what of a thread's wait for one is the recorder's
// doing.

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

    /// The times in which records were missing, as trace::SwitchInfo::missing.
    std::vector<std::uint64_t> missing() const;

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
    void note_loss(const SwitchRecord& record, std::uint64_t ticks);
    void forget_open();

    std::unordered_map<std::uint32_t, Thread> threads_;
    AgentTimes agent_;
    std::set<std::uint16_t> silent_;      ///< processors whose records are missing
    std::vector<std::uint64_t> missing_;  ///< while any is silent, the last time has no end yet
    std::vector<Part> parts_;
    std::uint64_t intervals_ = 0;  ///< that are not in a part
    std::uint64_t dropped_ = 0;
};

}  // namespace rdam::agent
