// What is taken from the kernel's rings, where they have room and where they have none.
#include "tools/agent/switches/switch_rings.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iostream>
#include <thread>

#include "tests/unit/catch.h"

using namespace rdam::agent;

namespace {

/// Two threads that wake each other on one processor: two switches each time.
void play_ping_pong(int rounds) {
    const int cpu = sched_getcpu();
    std::array<std::array<int, 2>, 2> pipes{};
    for (auto& ends : pipes)
        REQUIRE(pipe(ends.data()) == 0);
    const auto play = [&](std::size_t own, bool first) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        char ball = 0;
        bool alive = !first || write(pipes[1 - own][1], &ball, 1) == 1;
        for (int i = 0; i < rounds && alive; ++i)
            alive = read(pipes[own][0], &ball, 1) == 1 && write(pipes[1 - own][1], &ball, 1) == 1;
    };
    std::thread other(play, 1, false);
    std::thread(play, 0, true).join();
    other.join();
    for (const auto& ends : pipes)
        for (const int end : ends)
            close(end);
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
