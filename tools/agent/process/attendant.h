// The thread of the agent that never has low priority. It notices when a thread waits for the agent, and then
// makes sure that the agent's other threads get the processors.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "libprobe/format/shared.h"
#include "tools/agent/process/priorities.h"
#include "tools/agent/process/urgency.h"

namespace rdam::agent {

class Attendant {
  public:
    /// `ended` is asked, by any thread, whether the process is gone. All references must outlive this. At
    /// first the priority is the ordinary one.
    /// `chore` is done by its thread some ten times a second.
    Attendant(
        shm::Control& control, Priorities& priorities, std::function<bool()> ended,
        std::function<void()> chore = [] {});
    ~Attendant();
    Attendant(const Attendant&) = delete;
    Attendant& operator=(const Attendant&) = delete;
    Attendant(Attendant&&) = delete;
    Attendant& operator=(Attendant&&) = delete;

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
