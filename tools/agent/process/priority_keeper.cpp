#include "tools/agent/process/priority_keeper.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "tools/agent/memory/shared_memory.h"

namespace rdam::agent {

namespace {

constexpr int kTickMilliseconds = 100;
/// Threads under a filter wake nobody, and wait without sleeping. And while somebody waits, what the kernel
/// has put off is tried as often.
constexpr int kShortTickMilliseconds = 10;
/// Nobody has waited for so long: a small buffer is full every few milliseconds, and the kernel lets a
/// session's share be changed ten times a second only.
constexpr std::chrono::milliseconds kCalm{90};

}  // namespace

PriorityKeeper::PriorityKeeper(shm::Control& control, Priorities& priorities, std::function<bool()> ended,
                               std::function<void()> chore)
    : control_(control), priorities_(priorities), ended_(std::move(ended)), chore_(std::move(chore)) {
    try {
        thread_ = std::thread([this] { attend(); });
    } catch (const std::system_error&) {
        // Nobody would raise the priority again: it stays as it is.
    }
}

PriorityKeeper::~PriorityKeeper() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard guard(mutex_);
        stop_ = true;
    }
    wake();
    thread_.join();
}

void PriorityKeeper::wake() {
    shm::births_of(control_).called_futex.fetch_add(1);
    futex_wake(&shm::births_of(control_).called_futex, 1);
}

void PriorityKeeper::attend() {
    ask_for_short_turns();
    for (;;) {
        const std::uint32_t seen = shm::births_of(control_).called_futex.load();
        look();
        chore_();
        {
            const std::lock_guard guard(mutex_);
            if (stop_) return;
        }
        run_errand();
        const bool soon = control_.filtered.load() == shm::kFilterSeen || (!priorities_.settle() && urgent());
        futex_wait(shm::births_of(control_).called_futex, seen,
                   soon ? kShortTickMilliseconds : kTickMilliseconds);
    }
}

void PriorityKeeper::look() {
    const auto now = std::chrono::steady_clock::now();
    if (!urgency_.update(look_at(control_, ended_()))) {
        if (!urgent_.load() || now - last_urgent_ < kCalm) return;
        urgent_.store(false);
        return priorities_.lower();
    }
    last_urgent_ = now;
    if (urgent_.exchange(true)) return;
    priorities_.raise();
    // It may be asleep until the program wakes it, and the program may have reasons not to.
    control_.work_futex.fetch_add(1);
    futex_wake(&control_.work_futex, 1);
}

void PriorityKeeper::run(const std::function<void()>& errand) {
    if (!thread_.joinable()) return errand();
    std::unique_lock lock(mutex_);
    errand_ = &errand;
    wake();
    // Its thread cannot try to have a larger share meanwhile.
    while (!done_.wait_for(lock, std::chrono::milliseconds{kShortTickMilliseconds},
                           [this] { return errand_ == nullptr; }))
        priorities_.settle();
}

void PriorityKeeper::run_errand() {
    const std::function<void()>* errand = nullptr;
    {
        const std::lock_guard guard(mutex_);
        errand = errand_;
    }
    if (errand == nullptr) return;
    (*errand)();
    const std::lock_guard guard(mutex_);
    errand_ = nullptr;
    done_.notify_one();
}

namespace {

/// `taken` counts what has been taken from `all`. The two are read one after the other, so the difference may
/// be negative.
std::uint32_t left(std::uint32_t all, std::uint32_t taken) {
    const auto difference = static_cast<std::int32_t>(all - taken);
    return static_cast<std::uint32_t>(std::max(difference, 0));
}

/// Chunks that threads write to, that are on their way to us, or that we hold.
std::uint32_t used_chunks(const shm::Control& control) {
    const std::uint32_t given_back = control.given_back.load();
    // Each chunk that comes back or is taken again counts once.
    const auto changes = static_cast<std::uint32_t>(control.free_chunks.load() >> 32U);
    const std::uint32_t free = left(given_back, changes - given_back);
    return left(std::min(control.fresh_chunks.load().value, control.chunks), free);
}

}  // namespace

Demand look_at(const shm::Control& control, bool ended) {
    const std::uint32_t unheard = left(control.threads_ended.load(), control.threads_done.load());
    constexpr double kMaxEnded = shm::kManyEnded / Urgency::kNearlyFull;
    constexpr std::uint32_t kChunksOfThread = 2;
    const std::uint32_t live = left(control.threads_started.load(), control.threads_ended.load());
    const double chunks = std::clamp<std::uint32_t>(
        control.chunks, 1, Urgency::kPlenty + kChunksOfThread * std::min(live, shm::kMaxThreads));
    return {.starting = control.file_futex.load() == 0,
            .late_plan = control.late_asked.load() != control.late_answered_futex.load(),
            .ending = ended || control.process_state.load() == shm::ProcessState::ending,
            .waiters = control.waiters.load(),
            .used = std::max(used_chunks(control) / chunks, unheard / kMaxEnded)};
}

bool Urgency::update(const Demand& demand) {
    const double enough = filling_ ? kRoomAgain : kNearlyFull;
    filling_ = demand.waiters > 0 || demand.used >= enough;
    return demand.starting || demand.late_plan || demand.ending || filling_;
}

}  // namespace rdam::agent
