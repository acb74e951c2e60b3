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
    static constexpr double kMin = 50e3;          ///< the shortest window
    static constexpr double kMax = 10e6;          ///< the longest window
    static constexpr double kUsualPeriod = 20e6;  ///< from one window to the next, on average
    static constexpr double kLongestPeriod = 50e6;
    static constexpr double kMaxDuty = 0.5;  ///< of the time, in windows

    explicit WindowSchedule(std::uint64_t seed) : random_(seed) {}

    struct Next {
        double gap = 0;     ///< from now to its begin
        double length = 0;  ///< as it is meant to be
    };
    struct Totals {
        double elapsed = 0;
        double open = 0;  ///< in windows
        double cost = 0;  ///< of what was recorded in them, as far as it is known (it is known late)
    };
    /// A window has ended: the totals so far. `share` of the time may go into recording, above 0. However
    /// little that is, windows of kMin come every kLongestPeriod, so that the whole run is covered. Windows
    /// are at most `most` long, where that is above kMin.
    Next next(const Totals& totals, double share, double most = kMax);

  private:
    double affordable(const Totals& totals, double share);

    std::mt19937_64 random_;
    double duty_ = kFirstDuty;
    Totals last_;
    double recent_open_ = 0;  ///< … and what was added lately
    double recent_cost_ = 0;

    static constexpr double kFirstDuty = 0.025;
};

}  // namespace rdam::agent
