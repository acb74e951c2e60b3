#include "microbench/interference/team.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>
#include <vector>

#include "microbench/interference/places.h"

namespace rdam::microbench {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<int> allowed_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> processors;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return processors;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (CPU_ISSET(i, &set)) processors.push_back(i);
    }
    return processors;
}

/// Where threads wait for the last one, on the processor: one that must be woken would be late.
class Start {
  public:
    explicit Start(unsigned threads) : missing_(threads) {}

    /// False if the start was called off.
    bool wait() {
        missing_.fetch_sub(1);
        wait_until([this] { return go_.load(std::memory_order_acquire) || off_.load(); });
        return !off_.load();
    }
    void wait_until_all_are_here() const {
        wait_until([this] { return missing_.load() == 0; });
    }
    void go() { go_.store(true, std::memory_order_release); }
    void call_off() { off_.store(true); }

  private:
    /// Who gives the processor away at once may share it with the next thread that does, and leave another
    /// one idle.
    template <class Condition>
    static void wait_until(const Condition& condition) {
        constexpr std::chrono::milliseconds kPatience{2};
        const Clock::time_point begin = Clock::now();
        while (!condition()) {
            if (Clock::now() - begin > kPatience) sched_yield();
        }
    }

    std::atomic<unsigned> missing_;
    std::atomic<bool> go_{false};
    std::atomic<bool> off_{false};
};

struct Member {
    Spent spent;
    bool placed = true;
    Clock::time_point end;
};

Result<Outcome> outcome_of(const Point& point, const std::vector<Member>& members, Clock::time_point begin,
                           double nanoseconds_a_tick) {
    Clock::time_point end = begin;
    Spent all;
    for (const Member& member : members) {
        if (!member.placed) return no_place();
        end = std::max(end, member.end);
        all.calls += member.spent.calls;
        all.ticks += member.spent.ticks;
    }
    Outcome outcome{
        .seconds = std::chrono::duration<double>(end - begin).count(), .calls = all.calls, .mean_ns = {}};
    if (point.self_timed)
        outcome.mean_ns =
            static_cast<double>(all.ticks) * nanoseconds_a_tick / static_cast<double>(all.calls);
    return outcome;
}

}  // namespace

bool take_place(const Point& point, unsigned number) {
    if (!point.pin) return true;
    // The first thread that asks is not bound yet.
    static const std::vector<int> processors = allowed_processors();
    if (processors.empty()) return false;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processors[number % processors.size()], &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

tl::unexpected<Error> no_place() {
    return fail("the system refuses to bind a thread to a processor; leave --pin out");
}

Result<Outcome> run_team(const Point& point, const std::function<Spent(const Seat&)>& work) {
    std::vector<Member> members(point.threads);
    Start start(point.threads);
    // On cache lines of its own: everybody reads it all the time.
    Places<std::atomic<bool>> over(1, true);
    const auto live = [&](unsigned i) {
        Member& me = members[i];
        me.placed = take_place(point, i);
        if (!start.wait()) return;
        const Spent spent = work({.number = i, .over = over.of(0)});
        me.end = Clock::now();
        me.spent = spent;
    };

    std::vector<std::jthread> threads;
    try {
        for (unsigned i = 0; i < point.threads; ++i)
            threads.emplace_back(live, i);
    } catch (const std::system_error&) {
        start.call_off();
        return fail("the system refuses {} threads; ask for fewer with --threads", point.threads);
    }
    start.wait_until_all_are_here();
    const Clock::time_point begin = Clock::now();
    const std::uint64_t begin_ticks = __rdtsc();
    start.go();
    threads.clear();
    const std::uint64_t ticks = __rdtsc() - begin_ticks;
    const std::chrono::duration<double> calibration = Clock::now() - begin;

    const double nanoseconds_a_tick = calibration.count() * 1e9 / static_cast<double>(ticks);
    return outcome_of(point, members, begin, nanoseconds_a_tick);
}

}  // namespace rdam::microbench
