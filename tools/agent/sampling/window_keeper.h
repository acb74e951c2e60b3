// Opens and closes the gates of functions that are sampled in windows, and notes when they were open.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <random>
#include <vector>

#include "libprobe/format/shared.h"
#include "tools/agent/memory/shared_memory.h"
#include "tools/agent/process/process_facts.h"
#include "tools/trace/event.h"

namespace rdam::agent {

// When the windows are in which functions that are too hot to be recorded whole are recorded
// (docs/recorder.md, "Sampling in windows").

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

// What the agent and the process that opens its windows (window_keeper.h) have in common.

/// Functions that wait are about each other: who unlocks lets somebody in.
inline constexpr std::uint8_t kWaitingGroup = 0;
/// Of partners (trace::FunctionInfo::partner): once their calls cost too much, no window shows who ended a wait.
inline constexpr std::uint8_t kNoWindows = trace::kMaxWindowGroup + 1;

/// What both know.
struct WindowExchange {
    static constexpr std::uint32_t kWindows = 1U << 12U;

    std::mutex mutex;
    std::atomic<std::uint32_t> ending = 0;  ///< a futex: the keeper closes its window and ends

    // Guarded by the mutex.
    std::uint32_t changes = 0;   ///< counts up with each change of the functions
    std::uint32_t has_file = 0;  ///< there have been events
    std::array<std::uint8_t, shm::kMaxFunctions>
        groups{};  ///< trace::FunctionInfo::window_group, or kNoWindows
    std::array<std::uint8_t, shm::kMaxFunctions> marked{};  ///< 1: sampled from the start on

    /// Windows on their way into the file: the keeper adds at the tail, the agent takes from the head.
    std::atomic<std::uint32_t> head = 0;
    std::atomic<std::uint32_t> tail = 0;
    std::vector<trace::Window> windows = std::vector<trace::Window>(kWindows);

    std::atomic<std::uint64_t> used_ns = 0;  ///< processor time of the keeper's process
};

/// Sleeps from edge to edge. Each function has windows of its own, so that no probe of another one slows it
/// down in them; only those that wait share theirs, because they are about each other. Runs in a process of
/// its own (window_sampler.h). Not thread-safe.
class WindowKeeper {
  public:
    /// The gates of marked functions are open. References must outlive it.
    WindowKeeper(const SharedMemory& shared, const TickRate& rate, WindowExchange& exchange);

    /// Until it is to end.
    void run();

  private:
    using Clock = std::chrono::steady_clock;

    struct Function {
        std::uint32_t number = 0;
        std::uint64_t calls_before = 0;  ///< recorded before it was sampled
    };
    /// Functions with the same windows.
    struct Group {
        std::uint32_t number = 0;
        WindowSchedule schedule;
        Clock::time_point due;  ///< of the next window
        double length = WindowSchedule::kFirst;
        std::vector<Function> functions = {};
        std::uint64_t forgotten_calls = 0;  ///< of functions that are gone
        std::uint64_t open_ticks = 0;
    };

    bool await_functions();
    bool is_sampled(std::uint32_t number) const;
    bool has(std::uint32_t number) const;
    std::uint64_t calls_of(const Function& function) const;
    void look_for_functions();
    void drop_gone();
    void add_function(std::uint32_t number);
    bool any() const;
    Group& group_of(std::uint32_t number);
    Group& next_group();
    std::uint64_t ticks(double ns) const;
    bool sleep_until(Clock::time_point time) const;
    void set_gates(const Group& group, std::uint8_t open) const;
    void open_window(std::uint32_t number);
    void close_window();
    void plan_next(Group& group);

    const SharedMemory& shared_;
    const TickRate& rate_;
    WindowExchange& exchange_;
    const double ticks_per_ns_;
    std::vector<Group> groups_;       ///< with functions, or with those that are gone
    bool open_ = false;               ///< a window is
    std::uint32_t open_group_ = 0;    ///< its group's number
    std::uint64_t opened_;            ///< ticks
    std::uint64_t ends_ = 0;          ///< ticks: until then at most, however late it is closed
    std::uint64_t started_ = 0;       ///< ticks: the schedules know nothing of what was before
    std::uint64_t spent_before_ = 0;  ///< Control::spent, then
    std::uint32_t seen_ = 0;          ///< Control::windowed_futex, when functions were looked for
    std::uint32_t changes_ = 0;       ///< WindowExchange::changes, then
};

}  // namespace rdam::agent
