// A budget for overhead (docs/recorder.md): watches what the recorder costs each thread, and says how much of
// each function is to be recorded so that it stays within a share of the thread's own time.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "libprobe/format/shared.h"

namespace rdam::agent {

/// What calls cost, in ticks of the trace's clock.
struct CallCosts {
    double recorded = 0;
    double unrecorded = 0;  ///< an outermost call whose tree is not recorded
    double inside = 0;      ///< a call in such a tree
};

/// A function's rate, 0…RDAM_MOST_RATE: a call tree that begins with it is recorded with probability 2^-rate.
/// A function too hot for that is *windowed*, permanently: its calls are recorded only in windows of time
/// (window_schedule.h), whose cost does not count against the budget. Not thread-safe.
class Budget {
  public:
    /// `share`: cost of the recorder / time of the program, above 0. Rates are reconsidered whenever a thread
    /// has been seen for `window` ticks.
    Budget(double share, CallCosts costs, double window) : share_(share), costs_(costs), window_(window) {}

    /// A recorded call; `tree`: it is outermost, and was recorded with the probability 2^-rate. In the order
    /// of the thread's events.
    void call(std::uint32_t thread, std::uint32_t function, bool tree, std::uint8_t rate);
    /// A manual region begins: what is called in it cannot be sampled.
    void region(std::uint32_t thread, std::uint32_t function);
    /// The recorder held the thread for so many ticks.
    void paused(std::uint32_t thread, std::uint64_t ticks);
    /// All events of the thread up to `tsc` have been reported. True: rates have changed. Events reported
    /// before the first call are forgotten, because it is not known how long they took.
    bool seen(std::uint32_t thread, std::uint64_t tsc);
    void ended(std::uint32_t thread);

    std::uint8_t rate(std::uint32_t function) const {
        return function < rates_.size() ? rates_[function] : std::uint8_t{0};
    }
    bool windowed(std::uint32_t function) const { return function < windowed_.size() && windowed_[function]; }
    /// The part of `share` that is left to windows: a share of the program's time.
    static double share_of_windows(double share);

  private:
    /// What a thread did in the current window. Of trees by their outermost function, of calls by their own.
    struct Trees {
        double count = 0;  ///< estimated, unrecorded ones included
        double calls = 0;  ///< in them
    };
    struct Thread {
        void begin_window(std::uint64_t tsc);

        std::uint64_t since = 0;  ///< tsc; 0: nothing seen yet
        std::uint64_t recorded = 0;
        std::uint64_t in_windows = 0;  ///< recorded calls of windowed functions
        double paused = 0;
        std::uint32_t root = 0;
        double weight = 1;
        double pressure = 0;        ///< averaged over the last windows; above 1 sampling does not suffice
        std::vector<Trees> trees;   ///< by function
        std::vector<double> calls;  ///< likewise
        std::map<std::uint32_t, std::uint8_t> wanted;  ///< rates, by outermost function
    };

    Thread& of(std::uint32_t thread, std::uint32_t function);
    double cost_of_unrecorded(const Trees& trees) const;
    double cost_of_recorded(const Trees& trees, double flush) const;
    void reconsider(Thread& thread, double elapsed);
    bool sample(Thread& thread, double available, double flush);
    double pressure(const Thread& thread, double available) const;
    bool window_most_called(Thread& thread);
    void sample_least(Thread& thread, double available, double flush) const;
    bool apply();

    double share_;
    CallCosts costs_;
    double window_;
    std::map<std::uint32_t, Thread> threads_;
    std::pair<std::uint32_t, Thread*> last_{0, nullptr};  ///< the one that was asked for last
    std::vector<std::uint8_t> rates_;
    std::vector<bool> windowed_;
    bool changed_ = false;
};

}  // namespace rdam::agent
