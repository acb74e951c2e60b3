// Opens and closes the gates of functions that are sampled in windows, and notes when they were open.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

#include "tools/agent/memory/shared_memory.h"
#include "tools/agent/process/process_facts.h"
#include "tools/agent/sampling/window_exchange.h"
#include "tools/agent/sampling/window_schedule.h"

namespace rdam::agent {

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
