#include "tools/agent/process/priorities.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

namespace rdam::agent {
namespace {

constexpr int kMinNice = 19;
constexpr int kOrdinary = 0;  ///< of a new session

/// sched_attr, which libc does not declare.
struct Attributes {
    std::uint32_t size = sizeof(Attributes);
    std::uint32_t policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0;
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
};

/// On a thread that is gone afterwards. Where processors are busy, one of the lowest priority may get none
/// for a tenth of a second: nobody waits for it, neither for its first turn nor for its end.
bool comes_back_from_idle(int policy, const sched_param& parameter) {
    const auto tried = std::make_shared<std::atomic<bool>>(false);
    try {
        std::thread thread([tried] { tried->wait(false); });
        const sched_param none{};
        const bool back = pthread_setschedparam(thread.native_handle(), SCHED_IDLE, &none) == 0 &&
                          pthread_setschedparam(thread.native_handle(), policy, &parameter) == 0;
        tried->store(true);
        tried->notify_one();
        thread.detach();
        return back;
    } catch (const std::system_error&) {
        return false;
    }
}

/// Tried once for all agents of a run.
bool is_reversible(int policy, const sched_param& parameter) {
    static const int tried = policy;
    static const bool back = comes_back_from_idle(policy, parameter);
    return policy == tried ? back : comes_back_from_idle(policy, parameter);
}

}  // namespace

void try_priorities() {
    const ThreadPriorities here(getpid());
}

void ask_for_short_turns() {
    constexpr std::uint64_t kTurnNs = 100'000;
    Attributes attributes;
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
    if (attributes.policy != SCHED_OTHER && attributes.policy != SCHED_BATCH) return;
    attributes.runtime = kTurnNs;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void ask_for_first_turns() {
    const sched_param lowest{.sched_priority = sched_get_priority_min(SCHED_RR)};
    if (pthread_setschedparam(pthread_self(), SCHED_RR, &lowest) != 0) ask_for_short_turns();
}

ThreadPriorities::ThreadPriorities(pid_t program) : policy_(sched_getscheduler(0)) {
    if (getsid(0) != getsid(program))
        autogroup_ = Descriptor(open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC));
    if (policy_ < 0 || sched_getparam(0, &parameter_) != 0) policy_ = SCHED_OTHER;
    reversible_ = is_reversible(policy_, parameter_);
}

void ThreadPriorities::enlist() {
    const std::lock_guard guard(mutex_);
    threads_.push_back(gettid());
}

/// False: the kernel has put it off.
bool ThreadPriorities::write_share() {
    if (autogroup_.get() < 0 || share_ == wanted_share_) return true;
    char text[8];
    const int size = std::snprintf(text, sizeof text, "%d", wanted_share_);
    if (write(autogroup_.get(), text, static_cast<std::size_t>(size)) < 0 && errno == EAGAIN) return false;
    // What is refused for another reason is refused for good.
    share_ = wanted_share_;
    return true;
}

bool ThreadPriorities::settle() {
    const std::lock_guard guard(mutex_);
    return write_share();
}

void ThreadPriorities::keep_way_back() const {
    if (!reversible_) return;
    constexpr int kNiceLimit = 20;  // less the least nice value that is allowed: setrlimit(2)
    const auto nice = static_cast<rlim_t>(kNiceLimit - getpriority(PRIO_PROCESS, 0));
    const auto priority = static_cast<rlim_t>(parameter_.sched_priority);
    for (const auto& [which, value] : {std::pair{RLIMIT_NICE, nice}, {RLIMIT_RTPRIO, priority}}) {
        rlimit limit{};
        if (getrlimit(which, &limit) != 0 || limit.rlim_cur >= value) continue;
        limit = {value, std::max(limit.rlim_max, value)};
        setrlimit(which, &limit);
    }
}

void ThreadPriorities::lower() {
    const std::lock_guard guard(mutex_);
    const sched_param none{};
    for (const pid_t thread : threads_) {
        if (reversible_)
            sched_setscheduler(thread, SCHED_IDLE, &none);
        else
            setpriority(PRIO_PROCESS, static_cast<id_t>(thread), kMinNice);
    }
    wanted_share_ = kMinNice;
    write_share();
}

void ThreadPriorities::raise() {
    const std::lock_guard guard(mutex_);
    wanted_share_ = kOrdinary;
    write_share();
    if (!reversible_) return;
    for (const pid_t thread : threads_)
        sched_setscheduler(thread, policy_, &parameter_);
}

}  // namespace rdam::agent
