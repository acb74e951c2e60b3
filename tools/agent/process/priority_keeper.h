// The thread of the agent that never has low priority. It notices when a thread waits for the agent, and then
// makes sure that the agent's other threads get the processors.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "libprobe/format/shared.h"
#include "tools/agent/process/priorities.h"
#include "tools/base/unmovable.h"

namespace rdam::agent {

// Whether a thread waits for the agent: when the agent may use the processors like the program, and when it
// must keep out of the program's way.

/// What the shared memory tells about waiting threads.
struct Demand {
    bool starting = false;      ///< the program waits for its plan, or soon for the file
    bool late_plan = false;     ///< a thread is in dlopen and waits for a plan
    bool ending = false;        ///< the program has ended, or waits for the trace to be written
    std::uint32_t waiters = 0;  ///< threads that wait for room
    double used = 0;  ///< the part of the buffer that is not free, or as much if many threads have ended; of
                      ///< a large buffer kPlenty counts as all of it
};

/// `ended`: the process is gone, or another program.
Demand look_at(const shm::Control& control, bool ended);

/// Not thread-safe.
class Urgency {
  public:
    /// A buffer that is three quarters full is urgent until half of it is free.
    static constexpr double kNearlyFull = 0.75;
    static constexpr double kRoomAgain = 0.5;
    /// Chunks in addition to those that live threads write to. If there are more, memory that has not been
    /// used yet costs the program more time than the agent does.
    static constexpr std::uint32_t kPlenty = 256;

    /// Whether a thread waits, or soon will.
    bool update(const Demand& demand);

  private:
    bool filling_ = false;
};

class PriorityKeeper : private Unmovable {
  public:
    /// `ended` is asked, by any thread, whether the process is gone. All references must outlive this. At
    /// first the priority is the ordinary one.
    /// `chore` is done by its thread some ten times a second.
    PriorityKeeper(
        shm::Control& control, Priorities& priorities, std::function<bool()> ended,
        std::function<void()> chore = [] {});
    ~PriorityKeeper();

    /// Somebody waits for the agent, or has a moment ago. Thread-safe.
    bool urgent() const { return urgent_.load(); }

    /// To look at once, and not after a tenth of a second. Thread-safe.
    void wake();

    /// Runs `errand` in the thread of ordinary priority and waits for its end. For one other thread.
    void run(const std::function<void()>& errand);

  private:
    void attend();
    void look();
    void run_errand();

    shm::Control& control_;
    Priorities& priorities_;
    std::function<bool()> ended_;
    std::function<void()> chore_;
    Urgency urgency_;
    std::chrono::steady_clock::time_point last_urgent_{};
    std::atomic<bool> urgent_{true};
    std::mutex mutex_;
    std::condition_variable done_;
    const std::function<void()>* errand_ = nullptr;  // guarded by mutex_, as all below
    bool stop_ = false;
    std::thread thread_;  ///< none, where there can be none: everything is done at low priority then
};

}  // namespace rdam::agent
