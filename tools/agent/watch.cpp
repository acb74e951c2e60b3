#include "tools/agent/watch.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

#include "tools/agent/process/priorities.h"
#include "tools/agent/process/process_facts.h"
#include "tools/base/child_process.h"

namespace rdam::agent {
namespace {

constexpr int kFirstMilliseconds = 5;
constexpr int kLooksPerTime = 16;
constexpr int kMaxMilliseconds = 100;

/// A program that becomes another one soon is likely to be short. Each look costs it some microseconds.
std::chrono::milliseconds patience(std::chrono::steady_clock::duration passed) {
    const auto share = std::chrono::duration_cast<std::chrono::milliseconds>(passed / kLooksPerTime);
    return std::clamp(share, std::chrono::milliseconds{kFirstMilliseconds},
                      std::chrono::milliseconds{kMaxMilliseconds});
}

}  // namespace

Watch::Watch(const SharedMemory& shared) : state_(std::make_shared<State>()) {
    state_->pid = shared.start().pid;
    state_->control = &shared.control();
    // Now, while the process waits: the thread may not run before it has become another program.
    state_->first = read_stat(state_->pid);
    try {
        std::thread([state = state_] { state->run(); }).detach();
    } catch (const std::system_error&) {
        works_ = false;
    }
}

Watch::~Watch() {
    const std::lock_guard guard(state_->mutex);
    state_->control = nullptr;
}

void Watch::State::run() {
    ask_for_short_turns();
    const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
        const auto ended = ends_within(fd, patience(std::chrono::steady_clock::now() - begin));
        if (ended.value_or(false)) return finish(End::exited);
        const auto now = read_stat(pid);
        if (!ended && (!now || now->ended || (first && now->start_ticks != first->start_ticks)))
            return finish(End::exited);
        // The stack of a process that has changed its user is not shown to us until it becomes another
        // program; one that has just been killed has none any more.
        const bool shown = first && first->stack_start != 0 && now && now->stack_start != 0;
        if (shown && now->stack_start != first->stack_start) return finish(End::replaced);
    }
}

void Watch::State::finish(End how) {
    end.store(how);
    const std::lock_guard guard(mutex);
    if (control == nullptr) return;
    for (auto* const word : {&control->work_futex, &shm::births_of(*control).called_futex}) {
        word->fetch_add(1);
        futex_wake(word, 1);
    }
}

}  // namespace rdam::agent
