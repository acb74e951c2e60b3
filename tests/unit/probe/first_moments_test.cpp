// Which functions are announced as too short and too often called to be recorded completely.
#include "tools/agent/sampling/first_moments.h"

#include "tests/unit/catch.h"

namespace rdam::agent {
namespace {

/// A clock of 1 GHz, a probe of 40 ns of which 30 are between the timestamps.
trace::TraceInfo two_functions() {
    trace::TraceInfo info;
    info.clock.ticks_per_second = 1e9;
    info.clock.probe_ticks = 40;
    info.clock.probe_inner_ticks = 30;
    info.functions.resize(2);
    info.functions[0].name = "leaf";
    info.functions[1].name = "worker";
    return info;
}

/// `count` calls of the function that take `duration` between their timestamps, one every `period`.
std::vector<trace::Event> calls(std::uint32_t function, std::uint64_t count, std::uint64_t duration,
                                std::uint64_t period) {
    std::vector<trace::Event> events;
    for (std::uint64_t i = 0; i < count; ++i) {
        trace::Event event;
        event.function = function;
        event.tsc = 1000 + i * period;
        events.push_back(event);
        event.kind = trace::EventKind::leave;
        event.tsc += duration;
        events.push_back(event);
    }
    return events;
}

/// One more chunk, as the drain shows it.
void show(FirstMoments& first, const std::vector<trace::Event>& events) {
    if (first.wants_next()) first.see(events);
}

}  // namespace

TEST_CASE("a function that is called all the time and takes next to nothing is announced, once", "[first]") {
    const trace::TraceInfo info = two_functions();
    FirstMoments first(info);
    show(first, calls(0, 300'000, 40, 80));
    const auto notices = first.take_notices();
    REQUIRE(notices.size() == 1);
    CHECK(
        notices[0] ==
        "leaf is called 13 million times a second and takes no longer than its probe, 40 ns: recording every "
        "call makes its threads take about 2.0 × as long; without --all-calls (RDAM_ALL_CALLS) its calls "
        "are sampled");
    show(first, calls(0, 300'000, 40, 80));
    CHECK(first.take_notices().empty());
}

TEST_CASE("nothing is said of functions that are long, rare, sampled, or hardly seen", "[first]") {
    trace::TraceInfo info = two_functions();
    std::vector<trace::Event> events;
    SECTION("longer than the probe") {
        events = calls(0, 300'000, 100, 150);
    }
    SECTION("rare") {
        events = calls(0, 300'000, 40, 1001);
    }
    SECTION("sampled") {
        info.functions[0].sampled = true;
        events = calls(0, 300'000, 40, 80);
    }
    SECTION("hardly seen") {
        events = calls(0, 249'000, 40, 80);
    }
    FirstMoments first(info);
    show(first, events);
    CHECK(first.take_notices().empty());
}

TEST_CASE("of chunks behind the first some are looked at, and stand for the others", "[first]") {
    const trace::TraceInfo info = two_functions();
    FirstMoments first(info);
    int wanted = 0;
    for (int i = 0; i < 16; ++i)
        wanted += first.wants_next() ? 1 : 0;
    CHECK(wanted == 16);
    const auto chunk = calls(0, 40'000, 40, 80);
    for (int i = 0; i < 8; ++i)
        show(first, chunk);
    CHECK(first.take_notices().size() == 1);
}

TEST_CASE("only the first moments are looked at", "[first]") {
    const trace::TraceInfo info = two_functions();
    FirstMoments first(info);
    int wanted = 0;
    for (int i = 0; i < 300; ++i)
        wanted += first.wants_next() ? 1 : 0;
    CHECK(wanted == 46);
    CHECK_FALSE(first.wants_next());
}

}  // namespace rdam::agent
