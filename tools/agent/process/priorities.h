// Sets the priority of the agent's threads in the kernel.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <mutex>
#include <vector>

#include "tools/base/files.h"

namespace rdam::agent {

/// For a thread that has little to do and has to do it soon: it asks for short turns on the processors (a
/// kernel of 6.12 or later), which come earlier, however small the share of its session is.
void ask_for_short_turns();

/// For one that has little to do at a time, where what is late is lost: the lowest real-time priority, with which it
/// gets a processor at once, and without the right to that (CAP_SYS_NICE) short turns.
void ask_for_first_turns();

/// Finds out beforehand, for all agents that are forked from this process, what ThreadPriorities needs to
/// know.
void try_priorities();

/// Two states. A fake takes its place in tests.
class Priorities {
  public:
    virtual ~Priorities() = default;
    /// The program's threads go first.
    virtual void lower() = 0;
    /// As the program's own threads, as far as the kernel allows.
    virtual void raise() = 0;
    /// Without privileges, the shares of sessions may be changed ten times a second, by all programs of the
    /// machine together. Tries again what the kernel has put off; false: it has done so again. Never waits.
    virtual bool settle() = 0;
};

/// If the kernel shares processors by session (sched_autogroup), the share of the agent's own session is
/// lowered and raised again, with any user's rights. Enlisted threads become SCHED_IDLE if there is a way
/// back from that (CAP_SYS_NICE, RLIMIT_NICE); otherwise they stay at nice 19 from the first time on.
/// Thread-safe.
class ThreadPriorities final : public Priorities {
  public:
    /// `program`: its session must not be ours, or its threads would be lowered as well.
    explicit ThreadPriorities(pid_t program);

    /// The calling thread is one that works for the file.
    void enlist();

    void lower() override;
    void raise() override;
    bool settle() override;

    /// Before CAP_SYS_NICE is given up: the way back stays open by the limits of resources.
    void keep_way_back() const;

    /// Enlisted threads get their priority back.
    bool reversible() const { return reversible_; }

  private:
    bool write_share();

    Descriptor autogroup_;  ///< of our own session; open, as it cannot be opened again without root's rights
    int policy_;            ///< that we have been started with
    sched_param parameter_{};
    bool reversible_;
    std::mutex mutex_;
    std::vector<pid_t> threads_;
    int share_ = 0;  ///< nice value of the session
    int wanted_share_ = 0;
};

}  // namespace rdam::agent
