// When the windows are in which functions that are too hot to be recorded whole are recorded
// (docs/recorder.md, "Sampling in windows").
#pragma once

#include <cstdint>
#include <random>

namespace rdam::agent {

/// Decides when the next window comes and how long it is, from what recording has cost so far. Knows no
/// clock. Times in nanoseconds. Not thread-safe.
class WindowSchedule {
  public:
    static constexpr double kFirst = 1e6;         ///< the length of the first window
    static constexpr double kMin = 50e3;          ///< … of any
    static constexpr double kMax = 10e6;          ///< … of any
    static constexpr double kUsualPeriod = 20e6;  ///< from one window to the next, on average
    static constexpr double kLongestPeriod = 50e6;
    static constexpr double kMaxDuty = 0.5;  ///< of the time, in windows

    /// `share` of the time may go into recording, above 0. However little that is, windows of kMin come
    /// every kLongestPeriod, so that the whole run is covered.
    WindowSchedule(double share, std::uint64_t seed) : share_(share), random_(seed) {}

    struct Next {
        double gap = 0;     ///< from now to its begin
        double length = 0;  ///< as it is meant to be
    };
    /// A window has ended. Totals so far: the time that has passed, the time in windows, the cost of what was
    /// recorded in them as far as it is known (it is known late).
    Next next(double elapsed, double open, double cost);

  private:
    double affordable(double elapsed, double open, double cost);

    double share_;
    std::mt19937_64 random_;
    double duty_ = kFirstDuty;
    double open_ = 0;  ///< the totals of the last report
    double cost_ = 0;
    double recent_open_ = 0;  ///< … and what was added lately
    double recent_cost_ = 0;

    static constexpr double kFirstDuty = 0.025;
};

}  // namespace rdam::agent
