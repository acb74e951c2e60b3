// Which functions are announced as too short and too often called to be recorded completely, and when.
#include "tools/agent/sampling/call_rates.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/catch.h"

namespace rdam::agent {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kSecond = 1000 * kMillisecond;
constexpr std::uint32_t kEventsOfChunk = 20'000;

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

/// What a thread does: calls one after the other, one every `period`, `duration` between their timestamps.
struct Phase {
    std::uint32_t function = 0;
    std::uint64_t period = 0;
    std::uint64_t duration = 40;
    std::uint64_t pause = 0;      ///< the recorder's, after the calls of a tenth of a chunk
    std::uint64_t each_long = 0;  ///< each so manieth call lasts until right before the next one
    std::uint32_t instead = 0;    ///< the function of every second call, if it is not `function`
};

/// Calls of one phase in one chunk.
struct Part {
    Phase phase;
    std::uint64_t begin = 0;
    std::uint64_t calls = 0;
};

void add_events(const Part& part, std::vector<trace::Event>& events) {
    const Phase& phase = part.phase;
    for (std::uint64_t i = 0; i < part.calls; ++i) {
        trace::Event event;
        event.function = i % 2 == 1 ? phase.instead : phase.function;
        event.tsc = part.begin + i * phase.period;
        events.push_back(event);
        event.kind = trace::EventKind::leave;
        const bool is_long = phase.each_long != 0 && i % phase.each_long == 0;
        event.tsc += is_long ? phase.period - 1 : phase.duration;
        events.push_back(event);
    }
    if (phase.pause == 0) return;
    trace::Event pause;
    pause.kind = trace::EventKind::pause;
    pause.tsc = part.begin + part.calls * phase.period;
    pause.until = pause.tsc + phase.pause;
    events.push_back(pause);
}

/// Threads whose chunks the agent takes.
class Program {
  public:
    explicit Program(const trace::TraceInfo& info) : rates_(info) {}

    std::uint64_t now(std::uint32_t thread = 0) { return threads_[thread].now; }

    /// Until the thread's time is `until`.
    void run_until(std::uint64_t until, const Phase& phase, std::uint32_t thread = 0) {
        Thread& data = threads_[thread];
        while (data.now < until) {
            const std::uint64_t calls =
                std::min<std::uint64_t>({kEventsOfChunk / 20, (kEventsOfChunk - data.events + 1) / 2,
                                         (until - data.now - 1) / phase.period + 1});
            data.parts.push_back({phase, data.now, calls});
            data.events += static_cast<std::uint32_t>(2 * calls + (phase.pause != 0 ? 1 : 0));
            data.now += calls * phase.period + phase.pause;
            if (data.events >= kEventsOfChunk) hand_over(thread, data);
        }
    }

    struct Notice {
        std::uint64_t when;
        std::string text;
    };
    const std::vector<Notice>& notices() const { return notices_; }
    std::uint64_t looks() const { return looks_; }

  private:
    struct Thread {
        std::uint64_t now = kSecond;
        std::vector<Part> parts;
        std::uint32_t events = 0;
    };

    void hand_over(std::uint32_t thread, Thread& data) {
        trace::Packs packs;
        packs.events = data.events;
        packs.first_tsc = data.parts.front().begin;
        packs.last_tsc = data.now - 1;
        if (rates_.wants(thread, packs)) {
            ++looks_;
            std::vector<trace::Event> events;
            for (const Part& part : data.parts)
                add_events(part, events);
            rates_.see(events);
            for (std::string notice = rates_.take_notice(); !notice.empty(); notice = rates_.take_notice())
                notices_.push_back({data.now, notice});
        }
        data.parts.clear();
        data.events = 0;
    }

    CallRates rates_;
    std::map<std::uint32_t, Thread> threads_;
    std::vector<Notice> notices_;
    std::uint64_t looks_ = 0;
};

/// The rate that a notice about leaf says, in millions.
double rate_in(const std::string& notice) {
    const std::string before = "leaf is called ";
    REQUIRE(notice.starts_with(before));
    return std::strtod(notice.c_str() + before.size(), nullptr);
}

constexpr Phase kCalm{.function = 1, .period = kMillisecond, .duration = kMillisecond / 2, .instead = 1};
constexpr Phase kHot{.period = 100};

}  // namespace

TEST_CASE("a function that is hot from the beginning is announced after half a second, once",
          "[call_rates]") {
    const trace::TraceInfo info = two_functions();
    Program program(info);
    program.run_until(6 * kSecond, {.period = 400});
    REQUIRE(program.notices().size() == 1);
    CHECK(program.notices()[0].when > kSecond + kSecond / 2);
    CHECK(program.notices()[0].when < kSecond + 8 * kSecond / 10);
    CHECK(program.notices()[0].text ==
          "leaf is called 2.5 million times a second by a thread, and most calls take no longer than their "
          "probe, 40 ns: recording every call makes its threads take at least 1.1 × as long; without "
          "--all-calls (RDAM_ALL_CALLS) its calls are sampled");
}

TEST_CASE("a phase that begins late is announced with its own rate", "[call_rates]") {
    const trace::TraceInfo info = two_functions();
    Program program(info);
    SECTION("nothing was hot before") {
        program.run_until(60 * kSecond, kCalm);
    }
    SECTION("something was") {
        program.run_until(60 * kSecond, {.function = 1, .period = 150, .duration = 100, .instead = 1});
    }
    const std::uint64_t begin = program.now();
    program.run_until(begin + 2 * kSecond, kHot);
    REQUIRE(program.notices().size() == 1);
    CHECK(program.notices()[0].when - begin < 8 * kSecond / 10);
    CHECK(program.notices()[0].text.starts_with("leaf is called 10 million times a second by a thread,"));
}

TEST_CASE("nothing is said of bursts, however hot", "[call_rates]") {
    const trace::TraceInfo info = two_functions();
    Program program(info);
    for (int i = 0; i < 10; ++i) {
        program.run_until(program.now() + 2 * kSecond / 5, kHot);
        program.run_until(program.now() + kSecond, kCalm);
    }
    CHECK(program.looks() > 10);
    CHECK(program.notices().empty());
}

TEST_CASE("calls that come close together are as many a second as there are in a second", "[call_rates]") {
    const trace::TraceInfo info = two_functions();
    Program program(info);
    SECTION("a quarter of the time") {
        while (program.now() < 6 * kSecond) {
            program.run_until(program.now() + 5 * kMillisecond, kHot);
            program.run_until(program.now() + 15 * kMillisecond, kCalm);
        }
        REQUIRE(program.notices().size() == 1);
        CHECK(rate_in(program.notices()[0].text) > 2.2);
        CHECK(rate_in(program.notices()[0].text) < 2.8);
    }
    SECTION("a twentieth") {
        while (program.now() < 6 * kSecond) {
            program.run_until(program.now() + kMillisecond, kHot);
            program.run_until(program.now() + 19 * kMillisecond, kCalm);
        }
        CHECK(program.notices().empty());
    }
    SECTION("half of it; in the other half, another function is called much less often") {
        const Phase other{.function = 1, .period = 1300, .instead = 1};
        while (program.now() < 20 * kSecond) {
            program.run_until(program.now() + 20 * kMillisecond, kHot);
            program.run_until(program.now() + 20 * kMillisecond, other);
        }
        REQUIRE(program.notices().size() == 1);
        CHECK(rate_in(program.notices()[0].text) > 3);
        CHECK(rate_in(program.notices()[0].text) < 7);
    }
}

TEST_CASE("of two functions each has its own rate", "[call_rates]") {
    const trace::TraceInfo info = two_functions();
    Program program(info);
    program.run_until(3 * kSecond, {.period = 200, .instead = 1});
    REQUIRE(program.notices().size() == 2);
    CHECK(program.notices()[0].text.starts_with("leaf is called 2.5 million"));
    CHECK(program.notices()[1].text.starts_with("worker is called 2.5 million"));
}

TEST_CASE("nothing is said of functions that are long, rare, or sampled", "[call_rates]") {
    trace::TraceInfo info = two_functions();
    Phase phase = kHot;
    SECTION("longer than the probe") {
        phase.duration = 71;
    }
    SECTION("rare") {
        phase.period = 1001;
    }
    SECTION("sampled") {
        info.functions[0].sampled = true;
    }
    Program program(info);
    program.run_until(6 * kSecond, phase);
    CHECK(program.notices().empty());
}

TEST_CASE("calls in which the thread loses its processor do not make a function long", "[call_rates]") {
    const trace::TraceInfo info = two_functions();
    Program program(info);
    program.run_until(3 * kSecond, {.period = 900, .each_long = 4});
    CHECK(program.notices().size() == 1);
}

TEST_CASE("the recorder's pauses make a program slow, too", "[call_rates]") {
    const trace::TraceInfo info = two_functions();
    Program program(info);
    // Of two tenths of a millisecond one is a pause, and four tenths of the other are probes.
    program.run_until(3 * kSecond, {.period = 100, .pause = kMillisecond / 10});
    REQUIRE(program.notices().size() == 1);
    CHECK(program.notices()[0].text.find("at least 3.3 × as long") != std::string::npos);
}

TEST_CASE("no chunk is decoded of a thread with few events", "[call_rates]") {
    const trace::TraceInfo info = two_functions();
    Program program(info);
    program.run_until(20 * kSecond, {.period = 2001});
    CHECK(program.looks() == 0);
}

TEST_CASE("however many threads are hot, few chunks are decoded, and the threads take turns",
          "[call_rates]") {
    const trace::TraceInfo info = two_functions();
    Program program(info);
    constexpr std::uint32_t kThreads = 64;
    constexpr std::uint64_t kSeconds = 60;
    for (std::uint64_t now = kSecond; now < kSeconds * kSecond; now += 10 * kMillisecond)
        for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
            const std::uint32_t function = thread == kThreads - 1 ? 1 : 0;
            program.run_until(now, {.function = function, .period = 500, .instead = function}, thread);
        }
    CHECK(program.looks() <= 4 * 20 * kSeconds);
    REQUIRE(program.notices().size() == 2);
    CHECK(program.notices()[1].text.starts_with("worker is called 2.0 million"));
}

TEST_CASE("times that make no sense do not end the watch", "[call_rates]") {
    const trace::TraceInfo info = two_functions();
    CallRates rates(info);
    trace::Packs packs;
    packs.events = 1000;
    packs.first_tsc = ~std::uint64_t{0} - 1;
    packs.last_tsc = ~std::uint64_t{0};
    CHECK_FALSE(rates.wants(0, packs));
    bool wanted = false;
    for (std::uint64_t time = kSecond; time < 2 * kSecond; time += kMillisecond) {
        packs.events = kEventsOfChunk;
        packs.first_tsc = time;
        packs.last_tsc = time + kMillisecond - 1;
        wanted = rates.wants(0, packs) || wanted;
    }
    CHECK(wanted);
}

}  // namespace rdam::agent
