// Has functions sampled in windows, and writes when these were.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include "tools/agent/memory/shared_memory.h"
#include "tools/agent/process/process_facts.h"
#include "tools/agent/sampling/window_keeper.h"
#include "tools/base/unmovable.h"
#include "tools/trace/event.h"
#include "tools/trace/writer.h"

namespace rdam::agent {

/// Functions are sampled from the start (marked ones), or since the process has found that their calls cost
/// too much (shm::Control::windowed_since). A thread waits for the first of them, and then leaves the windows
/// to a process of its own (window_keeper.h): a kernel that shares processors by session (sched_autogroup)
/// gives the agent's session so little that where all processors are busy a thread in it may wait for
/// seconds, and windows must be closed in time. Where there can be no other process the thread does it
/// itself. The methods are for one other thread.
class WindowSampler : private Unmovable {
  public:
    /// All gates are open. References must outlive it. `forked` gets the number of the process, on the
    /// thread.
    WindowSampler(const SharedMemory& shared, const TickRate& rate, std::function<void(pid_t)> forked);
    ~WindowSampler();

    /// The functions have these numbers. Those that the user's list marks, those added before left out, are
    /// sampled from the start on, and `info` says so. Those that were sampled before their library was
    /// unloaded, and have come back with another number, too.
    void add_functions(trace::TraceInfo& info, const FunctionNumbers& numbers);

    /// `info` says since when functions are sampled, and in whose windows.
    void describe(trace::TraceInfo& info, const FunctionNumbers& numbers);

    /// Nothing has the number any more, or another function, whose gate is open.
    void forget(std::uint32_t number);

    /// Writes the windows that have come together, unless there is no file yet (`writer` is null).
    void write(trace::TraceWriter* writer);

    /// The recording is over: writes the remaining windows.
    void finish(trace::TraceWriter* writer);

    /// The processor time of the other process, seconds.
    double used_seconds() const;

  private:
    void start();
    void wake();
    void stop();
    bool await_need();
    void run();

    const SharedMemory& shared_;
    const TickRate& rate_;
    std::function<void(pid_t)> made_;
    WindowExchange exchange_;
    std::uint8_t last_group_ = 0;
    std::uint32_t described_ = 0;       ///< Control::windowed_futex, when `info` was last told
    std::atomic<bool> needed_ = false;  ///< a function is sampled from the start on
    std::thread thread_;
};

}  // namespace rdam::agent
