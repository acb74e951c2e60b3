// Opens and closes the gates of functions that are sampled in windows, and notes when they were open.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "analyzer/trace/event.h"
#include "analyzer/trace/write/writer.h"
#include "tools/agent/memory/shared_memory.h"
#include "tools/agent/process/process_facts.h"
#include "tools/agent/sampling/window_schedule.h"

namespace rdam::agent {

/// One schedule for all functions: a window is the same for each of them. A thread of its own, which sleeps
/// from edge to edge, opens and closes the gates; there is none before the first function. The methods are
/// for one other thread.
class WindowSampler {
  public:
    /// All gates are open. `share`: WindowSchedule. References must outlive it.
    WindowSampler(const SharedMemory& shared, const TickRate& rate, double share);
    ~WindowSampler();
    WindowSampler(const WindowSampler&) = delete;
    WindowSampler& operator=(const WindowSampler&) = delete;
    WindowSampler(WindowSampler&&) = delete;
    WindowSampler& operator=(WindowSampler&&) = delete;

    /// The functions that the user's list marks, those added before left out: sampled from the start on, and
    /// `info` says so. Those that were sampled before their library was unloaded, and have come back with
    /// another number, too.
    void add_marked(trace::TraceInfo& info, const FunctionNumbers& numbers);

    /// The function with this number, too. Returns FunctionInfo::windowed_since: up to then all of its calls
    /// were recorded.
    std::uint64_t add(std::uint32_t number);

    /// Nothing has the number any more, or another function, whose gate is open.
    void forget(std::uint32_t number);

    /// Writes the windows that have come together, unless there is no file yet (`writer` is null).
    void write(trace::TraceWriter* writer);

    /// The recording is over: writes the remaining windows.
    void finish(trace::TraceWriter* writer);

  private:
    using Clock = std::chrono::steady_clock;

    struct Function {
        std::uint32_t number = 0;
        std::uint64_t calls_before = 0;  ///< recorded before it was sampled
    };

    bool has(std::uint32_t number) const;
    std::uint64_t calls_of(const Function& function) const;
    void add_function(std::uint32_t number);
    void start();
    void stop();
    void run();
    void set_gates(std::uint8_t open) const;
    void open_window();
    void close_window();
    double cost_ns() const;

    const SharedMemory& shared_;
    const TickRate& rate_;
    const double ticks_per_ns_;
    std::mutex mutex_;
    std::condition_variable wake_;  ///< the thread is to end
    bool ending_ = false;           // guarded, as all below
    bool has_file_ = false;         ///< there have been events
    std::vector<Function> functions_;
    std::uint64_t forgotten_calls_ = 0;  ///< of functions that are gone
    WindowSchedule schedule_;
    bool open_ = true;
    std::uint64_t opened_;                ///< ticks
    std::uint64_t started_ = 0;           ///< ticks: the schedule knows nothing of what was before
    std::uint64_t open_ticks_ = 0;        ///< since then
    std::vector<trace::Window> windows_;  ///< that are not in the file yet
    std::thread thread_;
};

}  // namespace rdam::agent
