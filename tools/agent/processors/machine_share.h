// How much of a thread's time the machine takes by itself: interrupts, and the host of a virtual machine.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rdam::agent {

/// What consecutive readings of a clock tell about their thread. Nanoseconds.
class Gaps {
  public:
    /// `usual`: what lies between two readings when nothing comes between.
    explicit Gaps(std::int64_t usual) : longest_(kTimes * usual) {}

    void add(std::int64_t between) {
        all_ += between;
        if (between > longest_) taken_ += between;
    }
    std::int64_t taken() const { return taken_; }
    std::int64_t all() const { return all_; }

  private:
    static constexpr std::int64_t kTimes = 6;
    std::int64_t longest_;
    std::int64_t taken_ = 0;
    std::int64_t all_ = 0;
};

/// The share of their time that was taken, 0…1, without the slice that lost most: one long pause says nothing
/// about the rest of a run. 0: fewer than three slices say nothing.
double share_of(std::span<const Gaps> slices);

/// The time that the host kept back from all processors since the machine started, according to the first
/// line of /proc/stat; 0: not known. Seconds.
double stolen_seconds(const std::string& proc_stat);
double stolen_seconds();

/// The share of all processors' time that the host has kept back since this was made, 0…1.
class StolenShare {
  public:
    StolenShare();
    double now() const;

  private:
    double stolen_;
    std::int64_t begin_;  ///< nanoseconds, monotonic
};

/// A spin of some milliseconds on each processor. Reads the clock repeatedly: if two readings are far apart,
/// something else ran. Time in which the kernel let another thread run does not count as the machine's. Not
/// done if a reading takes too long to show anything.
class MachineShare {
  public:
    /// Begins at once, on threads of its own; no processors: nothing is measured.
    explicit MachineShare(const std::vector<std::uint32_t>& processors);
    ~MachineShare();
    MachineShare(const MachineShare&) = delete;
    MachineShare& operator=(const MachineShare&) = delete;

    /// The share of the processors' time, 0…1; 0: not known, because they were too busy. Waits for the end of
    /// the measurement, 15 ms after its beginning at the latest. A caller that does not ask does not wait,
    /// and threads that have not run by then are left to end by themselves.
    double result();

  private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
};

}  // namespace rdam::agent
