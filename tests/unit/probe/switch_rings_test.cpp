// What is taken from the kernel's rings, where they have room and where they have none.
#include "tools/agent/switches/switch_rings.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <iostream>
#include <thread>

#include "tests/unit/catch.h"

using namespace rdam::agent;

namespace {

/// How often this thread has left a processor.
long switches() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
}

/// Two threads that wake each other on one processor: two switches each time. Returns how many there were.
long play_ping_pong(int rounds) {
    const int cpu = sched_getcpu();
    std::array<std::array<int, 2>, 2> pipes{};
    for (auto& ends : pipes)
        REQUIRE(pipe(ends.data()) == 0);
    std::atomic<long> all{0};
    const auto play = [&](std::size_t own, bool first) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        char ball = 0;
        bool alive = !first || write(pipes[1 - own][1], &ball, 1) == 1;
        for (int i = 0; i < rounds && alive; ++i)
            alive = read(pipes[own][0], &ball, 1) == 1 && write(pipes[1 - own][1], &ball, 1) == 1;
        all += switches();
    };
    std::thread other(play, 1, false);
    std::thread(play, 0, true).join();
    other.join();
    for (const auto& ends : pipes)
        for (const int end : ends)
            close(end);
    return all;
}

}  // namespace

TEST_CASE("a ring that has filled up says from when and until when its records are missing") {
    auto rings = SwitchRings::open(static_cast<std::uint32_t>(getpid()), CLOCK_MONOTONIC);
    if (!rings) {
        std::cout << "skipped: " << rings.error().message << "\n";
        return;
    }
    const auto lost = [](const SwitchRecord& record) { return record.lost; };
    std::vector<SwitchRecord> few;
    play_ping_pong(100);
    rings->take(few);
    CHECK(few.size() >= 200);
    CHECK(std::ranges::none_of(few, lost));

    std::vector<SwitchRecord> many;
    play_ping_pong(30'000);
    rings->take(many);
    CHECK(rings->lost() == 0);
    const auto full = std::ranges::find_if(many, lost);
    REQUIRE(full != many.end());
    CHECK(full->out);
    REQUIRE(full != many.begin());
    CHECK(full->ns == std::prev(full)->ns);

    std::vector<SwitchRecord> later;
    play_ping_pong(100);
    rings->take(later);
    CHECK(rings->lost() > 0);
    const auto again =
        std::ranges::find_if(later, [](const SwitchRecord& record) { return record.lost && !record.out; });
    REQUIRE(again != later.end());
    CHECK(again->cpu == full->cpu);
    CHECK(again->ns > full->ns);
}

TEST_CASE("a ring that becomes larger loses nothing on its way") {
    auto rings = SwitchRings::open(static_cast<std::uint32_t>(getpid()), CLOCK_MONOTONIC);
    if (!rings) {
        std::cout << "skipped: " << rings.error().message << "\n";
        return;
    }
    // Where the next ones play, too, the ring is the one that has become larger.
    const int cpu = sched_getcpu();
    cpu_set_t one;
    cpu_set_t anywhere;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    REQUIRE(sched_getaffinity(0, sizeof anywhere, &anywhere) == 0);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    constexpr int kRounds = 100;
    const auto before = rings->descriptors();
    std::vector<SwitchRecord> records;
    CHECK_FALSE(rings->grow());
    long played = play_ping_pong(4 * kRounds);
    bool grew = false;
    for (bool grows = rings->grow(); grows; grows = rings->grow()) {
        grew = true;
        rings->take(records);
        played += play_ping_pong(kRounds);
        rings->take(records);
    }
    if (!grew) {
        std::cout << "skipped: the user may not lock larger rings (ulimit -l)\n";
        return;
    }
    CHECK(rings->descriptors() != before);
    rings->take(records);
    // More than the ring before had room for.
    played += play_ping_pong(6 * kRounds);
    rings->take(records);
    sched_setaffinity(0, sizeof anywhere, &anywhere);
    CHECK(rings->lost() == 0);
    CHECK(std::ranges::none_of(records, [](const SwitchRecord& record) { return record.lost; }));
    // This process is the agent and the program: all comes twice.
    const auto outs = std::ranges::count_if(records, [](const SwitchRecord& record) { return record.out; });
    CHECK(outs >= 2 * played);
}
