// What a thread does between two measured operations.
#pragma once

#include <cstdint>

namespace rdam::microbench {

/// Computes, on registers alone, for about so many nanoseconds. Finer than a clock can be read; time in which
/// the thread is off the processor does not count. The first one that is made calibrates (some milliseconds):
/// make it before threads start.
class Compute {
  public:
    explicit Compute(double nanoseconds);
    void operator()() const { rounds(rounds_); }
    /// `times` as long.
    void operator()(double times) const {
        rounds(static_cast<std::uint64_t>(static_cast<double>(rounds_) * times));
    }

  private:
    static void rounds(std::uint64_t count);
    static double calibrate();
    std::uint64_t rounds_;
};

/// Sleeps for about so many nanoseconds: leaves the processor to others. At least as long as the kernel takes
/// to wake a thread, some tens of microseconds; zero does not sleep.
class Sleep {
  public:
    explicit Sleep(double nanoseconds) : nanoseconds_(static_cast<std::int64_t>(nanoseconds)) {}
    void operator()() const;

  private:
    std::int64_t nanoseconds_;
};

}  // namespace rdam::microbench
