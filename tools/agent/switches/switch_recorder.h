// Records when the program's threads are off the processors: the part of the agent that listens to the
// kernel.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "libprobe/format/shared.h"
#include "tools/agent/process/process_facts.h"
#include "tools/agent/switches/off_cpu_log.h"
#include "tools/agent/switches/switch_rings.h"
#include "tools/base/unmovable.h"
#include "tools/trace/event.h"
#include "tools/trace/writer.h"

namespace rdam::agent {

// From the kernel's clock, by which perf's records are timed, to ticks of the trace's clock.

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

/// Which share of one processor's time it takes to write the records. Times are nanoseconds of one clock.
class SwitchCost {
  public:
    explicit SwitchCost(std::uint64_t now_ns) : since_ns_(now_ns) {}

    /// Of the records that have been taken just now, and of such as were lost from `lost_since_ns` on (UINT64_MAX: none),
    /// of which the kernel tells late. Returns the share when a window ends.
    std::optional<double> add(std::uint64_t taken_ns, std::uint64_t lost_ns, std::uint64_t lost_since_ns,
                              std::uint64_t now_ns);

  private:
    std::uint64_t since_ns_;
    std::uint64_t cost_ns_ = 0;
};

/// A thread of its own empties the kernel's rings when a quarter of one is full, and once a second. The methods
/// are for one other thread.
class SwitchRecorder : private Unmovable {
  public:
    /// Begins to record, or not: `info` (which must outlive this) says which, and why not.
    SwitchRecorder(std::uint32_t pid, shm::Clock clock, settings::Switches wanted, trace::SwitchInfo& info);
    ~SwitchRecorder();

    /// A process of one thread that is the agent's, too. Once, from any thread.
    void watch_agent(pid_t pid);

    /// Writes what has come together, unless there is no file yet (`writer` is null).
    void write(trace::TraceWriter* writer);

    /// The recording is over: writes the remaining intervals.
    void finish(trace::TraceWriter* writer);

  private:
    void run();
    std::vector<pollfd> waits() const;
    bool await(std::vector<pollfd>& waits, int milliseconds) const;
    void take(bool all);
    void watch_cost(std::uint64_t taken_ns, std::uint64_t lost_ns);
    void stop_thread();

    const settings::Switches wanted_;
    trace::SwitchInfo& info_;
    SwitchClock clock_;
    int wake_ = -1;  ///< an eventfd: there is something to do for the thread
    std::atomic<bool> ending_ = false;
    std::atomic<std::uint32_t> other_ = 0;  ///< watch_agent()
    std::mutex mutex_;
    std::optional<SwitchRings> rings_;   // guarded, as all below
    std::vector<SwitchRecord> records_;  ///< not in order yet
    OffCpuLog log_;
    SwitchCost cost_;
    std::uint64_t stopped_ = 0;  ///< ticks
    std::string why_stopped_;
    std::uint64_t handed_over_ = 0, lost_ = 0;  ///< SwitchRings
    std::thread thread_;
};

}  // namespace rdam::agent
