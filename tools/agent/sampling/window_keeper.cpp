#include "tools/agent/sampling/window_keeper.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "tools/agent/memory/shared_facts.h"

namespace rdam::agent {

namespace {

std::chrono::steady_clock::duration nanoseconds(double ns) {
    return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double, std::nano>(ns));
}

/// The timer that wakes us to close a window interrupts a thread of the program, which takes some 20 µs of it
/// in a virtual machine, in each window, always on the same processor. The window is over that long before
/// it.
constexpr double kBeforeTimer = 5e3;

}  // namespace

WindowKeeper::WindowKeeper(const SharedMemory& shared, const TickRate& rate, WindowExchange& exchange)
    : shared_(shared),
      rate_(rate),
      exchange_(exchange),
      ticks_per_ns_(rate.result() * 1e-9),
      opened_(rate.start_tsc()) {}

/// Until there is a function to sample, the process having found one too hot; false: it is to end.
bool WindowKeeper::await_functions() {
    // The process wakes us, unless it is under a filter.
    constexpr int kLookMilliseconds = 100;
    const std::atomic<std::uint32_t>& windowed = shared_.control().windowed_futex;
    while (exchange_.ending.load() == 0) {
        const std::uint32_t seen = windowed.load();
        {
            const std::lock_guard guard(exchange_.mutex);
            look_for_functions();
            // What waits for the file must not find the gates closed when it goes on.
            if (exchange_.has_file != 0 && any()) return true;
        }
        futex_wait(windowed, seen, kLookMilliseconds);
    }
    return false;
}

void WindowKeeper::run() {
    if (!await_functions()) return;
    started_ = rate_.now();
    spent_before_ = shared_.control().spent.load();
    if (open_) {
        // Since the start the gates of all marked functions have been open: that is the first group's window.
        ends_ = rate_.now() + ticks(WindowSchedule::kFirst);
        const bool goes_on = sleep_until(Clock::now() + nanoseconds(WindowSchedule::kFirst + kBeforeTimer));
        const std::lock_guard guard(exchange_.mutex);
        for (const Group& group : groups_)
            if (group.number != open_group_) set_gates(group, 0);
        close_window();
        if (!goes_on) return;
    }
    for (bool goes_on = true; goes_on;) {
        Clock::time_point until;
        std::uint32_t number = 0;
        {
            const std::lock_guard guard(exchange_.mutex);
            look_for_functions();
            const Group& next = next_group();
            number = next.number;
            until = next.due;
        }
        if (!sleep_until(until)) return;
        {
            const std::lock_guard guard(exchange_.mutex);
            const double length = group_of(number).length;
            until = Clock::now() + nanoseconds(length + kBeforeTimer);
            ends_ = rate_.now() + ticks(length);
            open_window(number);
        }
        goes_on = sleep_until(until);
        const std::lock_guard guard(exchange_.mutex);
        close_window();
    }
}

std::uint64_t WindowKeeper::ticks(double ns) const {
    return static_cast<std::uint64_t>(ns * ticks_per_ns_);
}

/// False: it is to end.
bool WindowKeeper::sleep_until(Clock::time_point time) const {
    constexpr long kSecond = 1'000'000'000;
    for (;;) {
        if (exchange_.ending.load() != 0) return false;
        const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(time - Clock::now()).count();
        if (left <= 0) return true;
        const timespec timeout{.tv_sec = left / kSecond, .tv_nsec = left % kSecond};
        syscall(SYS_futex, &exchange_.ending, FUTEX_WAIT, 0, &timeout, nullptr, 0);
    }
}

bool WindowKeeper::is_sampled(std::uint32_t number) const {
    return exchange_.marked[number] != 0 || windowed_since(shared_.control(), number) != 0;
}

bool WindowKeeper::has(std::uint32_t number) const {
    return std::ranges::any_of(groups_, [&](const Group& group) {
        return std::ranges::find(group.functions, number, &Function::number) != group.functions.end();
    });
}

/// Recorded since it is sampled.
std::uint64_t WindowKeeper::calls_of(const Function& function) const {
    return shared_.control().calls[function.number].load(std::memory_order_relaxed) - function.calls_before;
}

/// Functions that the process has found too hot have closed gates, which open with the next window.
void WindowKeeper::look_for_functions() {
    const std::uint32_t seen = shared_.control().windowed_futex.load();
    if (seen == seen_ && exchange_.changes == changes_) return;
    seen_ = seen;
    changes_ = exchange_.changes;
    drop_gone();
    for (std::uint32_t number = 0; number < shm::kFirstRegion; ++number) {
        if (!is_sampled(number) || has(number) || exchange_.groups[number] == kNoWindows) continue;
        add_function(number);
        if (exchange_.marked[number] == 0) continue;
        const std::uint32_t group = exchange_.groups[number];
        if (started_ == 0 && !std::exchange(open_, true)) open_group_ = group;
        if (started_ != 0 && !(open_ && open_group_ == group)) shared_.gate(number).store(0);
    }
}

/// Libraries come and go, and functions with them.
void WindowKeeper::drop_gone() {
    for (Group& group : groups_) {
        const auto gone = [&](const Function& function) { return !is_sampled(function.number); };
        for (const Function& function : group.functions)
            if (gone(function)) group.forgotten_calls += calls_of(function);
        std::erase_if(group.functions, gone);
    }
}

void WindowKeeper::add_function(std::uint32_t number) {
    group_of(exchange_.groups[number])
        .functions.push_back({number, shared_.control().calls[number].load(std::memory_order_relaxed)});
}

bool WindowKeeper::any() const {
    return std::ranges::any_of(groups_, [](const Group& group) { return !group.functions.empty(); });
}

WindowKeeper::Group& WindowKeeper::group_of(std::uint32_t number) {
    const auto found = std::ranges::find(groups_, number, &Group::number);
    if (found != groups_.end()) return *found;
    groups_.push_back({.number = number,
                       .schedule = WindowSchedule(rate_.start_tsc() ^ shared_.start().pid ^ number),
                       .due = Clock::now()});
    return groups_.back();
}

/// The one whose window comes first.
WindowKeeper::Group& WindowKeeper::next_group() {
    const auto before = [](const Group& a, const Group& b) {
        if (a.functions.empty() != b.functions.empty()) return b.functions.empty();
        return a.due < b.due;
    };
    return *std::ranges::min_element(groups_, before);
}

void WindowKeeper::set_gates(const Group& group, std::uint8_t open) const {
    for (const Function& function : group.functions)
        shared_.gate(function.number).store(open, std::memory_order_relaxed);
}

/// What is known to lie in the window was called when all gates of the group were open.
void WindowKeeper::open_window(std::uint32_t number) {
    look_for_functions();
    set_gates(group_of(number), shm::kGateOpen);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    opened_ = rate_.now();
    open_ = true;
    open_group_ = number;
}

void WindowKeeper::close_window() {
    const std::uint64_t now = rate_.now();
    Group& group = group_of(open_group_);
    open_ = false;
    set_gates(group, 0);
    // An agent that is that far behind has other losses, too.
    const std::uint32_t tail = exchange_.tail.load();
    if (tail - exchange_.head.load() < WindowExchange::kWindows) {
        exchange_.windows[tail % WindowExchange::kWindows] = {
            .begin = opened_, .end = std::max(std::min(now, ends_), opened_), .group = open_group_};
        exchange_.tail.store(tail + 1);
    }
    group.open_ticks += now - std::max(opened_, started_);
    exchange_.used_ns.store(now_ns(CLOCK_PROCESS_CPUTIME_ID));
    plan_next(group);
}

/// Windows have a part of the budget, and of what the complete functions leave of it. The groups share it,
/// and the time; functions that wait get the largest part, since what they lose is what others take.
void WindowKeeper::plan_next(Group& group) {
    std::uint64_t calls = group.forgotten_calls;
    for (const Function& function : group.functions)
        calls += calls_of(function);
    constexpr double kScale = 1.0 / 16;
    const double cost =
        static_cast<double>(calls) * static_cast<double>(shared_.measured().flow_ticks_x16) * kScale;
    const auto elapsed = static_cast<double>(rate_.now() - started_);
    const auto spent = static_cast<double>(shared_.control().spent.load() - spent_before_);
    const double budget = shared_.start().max_overhead();
    constexpr double kOfTheRest = 0.25;
    const double share = std::max(budget / shm::kPartOfWindows,
                                  kOfTheRest * (budget - (elapsed > 0 ? spent / elapsed : budget)));
    const auto weight = [](const Group& each) { return each.number == kWaitingGroup ? 4.0 : 1.0; };
    double parts = 0;
    for (const Group& each : groups_)
        parts += weight(each);
    const double part = weight(group) / parts;
    const auto next = group.schedule.next({.elapsed = elapsed / ticks_per_ns_,
                                           .open = static_cast<double>(group.open_ticks) / ticks_per_ns_,
                                           .cost = cost / ticks_per_ns_},
                                          part * share, part * WindowSchedule::kMax);
    group.length = next.length;
    group.due = Clock::now() + nanoseconds(next.gap);
}

namespace {

/// The weight of the previous window relative to the next: the last fifty windows, a second or two, decide.
constexpr double kCostMemory = 0.98;
/// The duty rises slowly, because calls are counted late, and falls at once.
constexpr double kRise = 1.1;
/// Gaps differ by up to half of their length: a program with a period of its own must not fall into step.
constexpr double kJitter = 0.5;

}  // namespace

double WindowSchedule::affordable(const Totals& totals, double share) {
    recent_open_ = kCostMemory * recent_open_ + (totals.open - last_.open);
    recent_cost_ = kCostMemory * recent_cost_ + (totals.cost - last_.cost);
    last_ = totals;
    constexpr double kMinDuty = kMin / kLongestPeriod;
    if (totals.cost > share * totals.elapsed) return kMinDuty;
    const double cost_of_window = recent_open_ > 0 ? recent_cost_ / recent_open_ : 0;
    return std::clamp(cost_of_window > 0 ? share / cost_of_window : kMaxDuty, kMinDuty, kMaxDuty);
}

WindowSchedule::Next WindowSchedule::next(const Totals& totals, double share, double most) {
    duty_ = std::min(affordable(totals, share), kRise * duty_);
    const double length = std::clamp(duty_ * kUsualPeriod, kMin, std::clamp(most, kMin, kMax));
    const double gap = std::min(length / duty_, kLongestPeriod) - length;
    return {gap * std::uniform_real_distribution{1 - kJitter, 1 + kJitter}(random_), length};
}

}  // namespace rdam::agent
