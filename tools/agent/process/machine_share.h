// How much of a thread's time the machine takes by itself: interrupts, and the host of a virtual machine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/unmovable.h"
#include "wrappers/plan/plan_store.h"

namespace rdam::agent {

/// What consecutive readings of a clock tell about their thread. Nanoseconds.
class Gaps {
  public:
    /// `usual`: what lies between two readings when nothing comes between.
    explicit Gaps(std::int64_t usual) : longest_(kTimes * usual) {}

    /// A gap that is longer than an interrupt counts neither way: the host has the processor run something
    /// else, which happens now and then, and is known of the whole run.
    void add(std::int64_t between) {
        if (between > kLongestInterrupt) return;
        all_ += between;
        if (between > longest_) taken_ += between;
    }
    std::int64_t taken() const { return taken_; }
    std::int64_t all() const { return all_; }

  private:
    static constexpr std::int64_t kTimes = 6;
    static constexpr std::int64_t kLongestInterrupt = 100'000;
    std::int64_t longest_;
    std::int64_t taken_ = 0;
    std::int64_t all_ = 0;
};

/// The share of their time that was taken, 0…1, without the slice that lost most: one long pause says nothing
/// about the rest of a run. 0: fewer than three slices say nothing.
double share_of(std::span<const Gaps> slices);

/// What processors did since the machine started, according to /proc/stat. Seconds.
struct ProcessorTimes {
    double wanted = 0;      ///< a thread was to run there: all but idle times; of it,
    double interrupts = 0;  ///< irq, softirq
    double stolen = 0;      ///< the host kept the processor back

    ProcessorTimes operator-(const ProcessorTimes& before) const {
        return {wanted - before.wanted, interrupts - before.interrupts, stolen - before.stolen};
    }
};

/// The times of these processors; all 0: not known.
ProcessorTimes processor_times(const std::string& proc_stat, const std::vector<std::uint32_t>& processors);
/// Reads the file.
ProcessorTimes processor_times(const std::vector<std::uint32_t>& processors);

/// The share of a thread's time on a processor that the machine took during a run, 0…1. `spun`: what
/// interrupts took when it began (MachineShare). That stands for the run as far as /proc/stat cannot see it:
/// the kernel counts in ticks, which miss most interrupts and the time that leaving a virtual machine takes.
double share_of_run(double spun, const ProcessorTimes& during);

/// Measured shares that the next runs may use: for an hour, until the machine starts anew. One measurement is
/// of some milliseconds, which may be unlike all others: only the median of several is believed without
/// another one.
class KeptShares {
  public:
    static constexpr std::size_t kEnough = 5;

    KeptShares(PlanStore store, const std::vector<std::uint32_t>& processors);

    /// The median of those that were measured of the same processors; nothing: too few are kept. `now`:
    /// seconds since the machine started.
    std::optional<double> load(double now) const;
    /// The median of these and `share`, 0…1, which is kept with them.
    double add(double share, double now) const;

  private:
    struct Measured {
        double share = 0;
        double at = 0;
    };
    std::vector<Measured> fresh(double now) const;
    static double median(std::vector<Measured> shares);

    PlanStore store_;
    std::string key_;
};

/// A spin of some milliseconds on each processor. Reads the clock repeatedly: if two readings are far apart,
/// an interrupt came between. Time in which the kernel let another thread run, or the host something else,
/// does not count. Not done if a reading takes too long to show anything, nor where enough shares are kept.
class MachineShare : private Unmovable {
  public:
    /// Begins at once, on threads of its own; no processors: nothing is measured.
    MachineShare(const std::vector<std::uint32_t>& processors, PlanStore store);
    ~MachineShare();

    /// The share of the processors' time, 0…1; 0: not known, because they were too busy. Waits for the end of
    /// the measurement, 15 ms after its beginning at the latest. A caller that does not ask does not wait,
    /// and threads that have not run by then are left to end by themselves.
    double result();

  private:
    struct Shared;
    KeptShares kept_;
    double known_ = 0;
    std::shared_ptr<Shared> shared_;
};

// Whether the kernel rations the processor time of a process's control groups.

/// The two numbers of a cpu.max (`50000 100000`, or `max 100000`) allow less than all of so many processors.
bool is_quota(std::string_view cpu_max, unsigned processors);

/// `cgroups`: what /proc/PID/cgroup says; `mounts`: where the control groups are mounted. Groups around that
/// of the process count as well. What cannot be read is no limit.
bool has_cpu_quota(std::string_view cgroups, const std::string& mounts, unsigned processors);

/// Whether a process on this machine has a CPU quota.
bool has_cpu_quota(unsigned pid);

}  // namespace rdam::agent
