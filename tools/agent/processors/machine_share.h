// How much of a thread's time the machine takes by itself: interrupts, and the host of a virtual machine.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rdam::agent {

/// What readings of a clock in a row tell of who reads it. Nanoseconds.
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

/// The share of their time that was taken, 0…1, but for the slice that lost most: one long pause says nothing
/// of the rest of a run. 0: fewer than three slices tell nothing.
double share_of(std::span<const Gaps> slices);

/// The time that the host kept back from all processors since the machine started, as /proc/stat's first line
/// has it; 0: it does not tell. Seconds.
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

/// A spin of some milliseconds on each processor. Reads the clock over and over: where two readings lie far
/// apart something else ran. Time in which the kernel let another thread run is none of the machine's and
/// does not count. Not where a reading takes so long that nothing can be told.
class MachineShare {
  public:
    /// Begins at once, on threads of its own; no processors: nothing is measured.
    explicit MachineShare(const std::vector<std::uint32_t>& processors);
    ~MachineShare();
    MachineShare(const MachineShare&) = delete;
    MachineShare& operator=(const MachineShare&) = delete;

    /// Of the processors' time, 0…1; 0: not known, for they had too much else to do. Waits for the end of it,
    /// 15 ms after its beginning at the latest; who does not ask does not wait, and threads that have not
    /// come to run by then are left to end by themselves.
    double result();

  private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
};

}  // namespace rdam::agent
