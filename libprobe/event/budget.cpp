#include "libprobe/event/budget.h"

#include <atomic>

#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/event/clock.h"

namespace rdam::probe {
namespace {

/// How a function's calls are recorded.
enum Manner : std::uint8_t {
    kComplete = 0,
    kWindowed,  ///< since it was found too hot
    kExempt,    ///< in windows by the user's list, or without a gate
};
constinit std::atomic<std::uint8_t> manners[shm::kMaxFunctions] = {};

/// What threads may spend beyond what they have earned, as parts of a second's allowance: all of them
/// together, and each at most. What is earned can be saved for a second.
constexpr std::int64_t kPartOfAll = 5;
constexpr std::int64_t kPartOfEach = 50;
constinit std::atomic<std::int64_t> bank{0};
constinit std::atomic<std::uint32_t> bank_open{0};

/// A change of chunk takes 20 to 90 µs.
constexpr std::uint64_t kChangesOfASecond = 10'000;

/// The least of a thread's time that is believed to be its own, should the costs be overestimated; and what
/// functions have at least that go on: where those of a few nanoseconds are called, nearly all time is cost.
constexpr std::uint64_t kLeastOwnPart = 50;
constexpr std::uint64_t kLeastPartOfOthers = 8;

/// What is called less often in a pack has little part in what it costs: it is closed neither together with those that are
/// called more often (the next pack, without them, shows whether it has to be) nor while the budget of the whole time, what
/// is sampled in windows included, suffices for it.
constexpr std::uint64_t kFewCalls = 16;

/// The part of `ticks` that may go into the recording of all calls: what is left to windows is not in it.
std::int64_t allowance(std::uint64_t ticks) {
    const std::uint64_t share = globals.settings.values[settings::Id::max_overhead];
    const std::uint64_t allowed =
        ticks / settings::kMillionths * share + ticks % settings::kMillionths * share / settings::kMillionths;
    return static_cast<std::int64_t>(allowed - allowed / shm::kPartOfWindows);
}

std::int64_t allowance_of_a_second() {
    return allowance(globals.ticks_per_second);
}

/// In a program a call costs more than where that was measured: records and tables are not in the first-level
/// cache.
std::uint64_t cost_of(std::uint64_t calls) {
    constexpr std::uint64_t kX16 = 16;
    return calls * (globals.measured.flow_ticks_x16 + globals.measured.flow_ticks_x16 / 4) / kX16;
}

bool is_complete(std::uint32_t function) {
    return function < shm::kFirstRegion && manners[function].load(std::memory_order_relaxed) == kComplete;
}

/// Calls of complete functions in a pack. The ops of a function differ in where it was called from.
struct Hottest {
    std::uint32_t function = shm::kNone;
    std::uint64_t calls = 0;
};

std::uint64_t calls_of(const pack::Packer& packer, std::uint32_t function) {
    std::uint64_t all = 0;
    packer.for_each_entered([&](std::uint32_t other, std::uint32_t calls) {
        if (other == function) all += calls;
    });
    return all;
}

Hottest find_hottest(const pack::Packer& packer) {
    Hottest hottest;
    packer.for_each_entered([&](std::uint32_t function, std::uint32_t) {
        if (function == hottest.function || !is_complete(function)) return;
        if (const std::uint64_t calls = calls_of(packer, function); calls > hottest.calls)
            hottest = {function, calls};
    });
    return hottest;
}

/// From now on the function is recorded in windows. The agent opens them.
void close(std::uint32_t function) {
    std::uint8_t complete = kComplete;
    if (!manners[function].compare_exchange_strong(complete, kWindowed)) return;
    shm::Control& control = *globals.control;
    control.windowed_since[function].store(read_clock());
    shm::gate_of(&control, function).store(0);
    control.windowed_futex.fetch_add(1);
    if (!is_filtered()) sys::futex_wake(&control.windowed_futex, 1);
}

/// The most called functions go first, until the rest may go on like this. `allowed` is what that may cost, `most` what it
/// may where these functions are called a few times only.
void close_hottest(const pack::Packer& packer, std::uint64_t calls, std::int64_t allowed, std::int64_t most) {
    bool closed_others = false;
    for (;;) {
        const auto cost = static_cast<std::int64_t>(cost_of(calls));
        const Hottest hottest = find_hottest(packer);
        const bool few = hottest.calls < kFewCalls;
        if (hottest.function == shm::kNone || cost <= (few ? most : allowed) || (few && closed_others))
            return;
        close(hottest.function);
        closed_others = closed_others || !few;
        calls -= hottest.calls;
    }
}

std::int64_t lesser(std::int64_t a, std::int64_t b) {
    return a < b ? a : b;
}

std::int64_t greater(std::int64_t a, std::int64_t b) {
    return a > b ? a : b;
}

}  // namespace

bool has_budget() {
    return globals.settings.values[settings::Id::max_overhead] != 0;
}

void begin_budget(const shm::PlannedFunction* functions, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i)
        manners[functions[i].number].store(
            functions[i].sampled != 0 || functions[i].takes_flags != 0 ? kExempt : kComplete);
}

void exempt(std::uint32_t function) {
    manners[function].store(kExempt);
}

void open_account(ThreadState& thread) {
    if (!has_budget()) return;
    if (bank_open.exchange(1) == 0) bank.store(allowance_of_a_second() / kPartOfAll);
    const std::int64_t wanted = allowance_of_a_second() / kPartOfEach;
    std::int64_t there = bank.load();
    std::int64_t taken = 0;
    do {
        taken = lesser(wanted, there > 0 ? there : 0);
    } while (!bank.compare_exchange_weak(there, there - taken));
    thread.account = {.credit = taken, .since = read_clock()};
}

void close_account(ThreadState& thread) {
    if (thread.account.credit > 0)
        bank.fetch_add(lesser(thread.account.credit, allowance_of_a_second() / kPartOfEach));
    thread.account = {};
}

void spend(ThreadState& thread, const pack::Packer& packer) {
    if (!has_budget() || thread.account.since == 0) return;
    std::uint64_t all = 0;
    std::uint64_t complete = 0;
    packer.for_each_entered([&](std::uint32_t function, std::uint32_t calls) {
        all += calls;
        if (is_complete(function)) complete += calls;
    });
    Account& account = thread.account;
    const std::uint64_t until = packer.last_tsc();
    const std::uint64_t elapsed = until > account.since ? until - account.since : 0;
    const std::uint64_t cost = cost_of(all);
    const std::uint64_t least = elapsed / kLeastOwnPart;
    const std::uint64_t own = elapsed > cost + least ? elapsed - cost : least;
    account.since = until > account.since ? until : account.since;
    const std::int64_t allowed = allowance(own);
    const std::uint64_t spent = cost_of(complete);
    globals.control->spent.fetch_add(spent, std::memory_order_relaxed);
    account.credit =
        lesser(account.credit + allowed, allowance_of_a_second()) - static_cast<std::int64_t>(spent);
    if (account.credit >= 0) return;
    close_hottest(packer, complete, greater(allowed, allowance(elapsed / kLeastPartOfOthers)),
                  allowance(elapsed));
    account.credit = 0;
}

void spend_pause(ThreadState& thread, std::uint64_t ticks, bool waited) {
    if (!has_budget()) return;
    const auto longest = static_cast<std::int64_t>(globals.ticks_per_second / kChangesOfASecond);
    const auto held = static_cast<std::int64_t>(ticks);
    thread.account.credit -= waited ? held : lesser(held, longest);
}

void forget_budget() {
    for (std::uint32_t i = 0; i < globals.functions; ++i)
        if (manners[i].load() == kWindowed) manners[i].store(kComplete);
    bank_open.store(0);
}

}  // namespace rdam::probe
