// From the kernel's records to intervals, and from its clock to the trace's.
#include "tools/agent/switches/off_cpu_log.h"

#include "tests/unit/catch.h"
#include "tests/unit/probe/tids.h"
#include "tools/agent/switches/switch_recorder.h"

using namespace rdam::agent;
using rdam::test::kOther;
using rdam::test::kTid;

namespace {

SwitchRecord out(std::uint32_t tid, bool preempted = false) {
    return {.tid = tid, .cpu = 1, .out = true, .preempted = preempted};
}

SwitchRecord in(std::uint32_t tid) {
    return {.tid = tid, .cpu = 1};
}

/// How many intervals the parts have of each of the two threads.
std::pair<std::uint64_t, std::uint64_t> counts(const std::vector<OffCpuLog::Part>& parts) {
    std::pair<std::uint64_t, std::uint64_t> result;
    for (const OffCpuLog::Part& part : parts)
        (part.tid == kTid ? result.first : result.second) += part.intervals.intervals();
    return result;
}

}  // namespace

TEST_CASE("each thread has its intervals") {
    OffCpuLog log;
    log.add(out(kTid), 10);
    log.add(out(kOther, true), 11);
    log.add(in(kTid), 20);
    log.add(in(kOther), 21);
    log.add(out(kTid), 30);
    log.add(in(kTid), 31);
    log.finish();
    CHECK(counts(log.take_parts()) == std::pair<std::uint64_t, std::uint64_t>{2, 1});
    CHECK(log.take_parts().empty());
}

TEST_CASE("a record that comes twice counts once") {
    OffCpuLog log;
    for (int i = 0; i < 2; ++i)
        log.add(out(kTid), 10);
    for (int i = 0; i < 2; ++i)
        log.add(in(kTid), 20);
    log.finish();
    CHECK(counts(log.take_parts()).first == 1);
}

TEST_CASE("a thread that begins with coming back has no interval") {
    OffCpuLog log;
    log.add(in(kTid), 10);
    log.finish();
    CHECK(log.take_parts().empty());
}

TEST_CASE(
    "what reaches into a time in which records are missing is left out, wherever the thread comes back") {
    const SwitchRecord missing{.cpu = 0, .out = true, .lost = true}, again{.cpu = 0, .lost = true};
    OffCpuLog log;
    log.add(out(kTid), 10);
    log.add(missing, 15);
    // It may have run on processor 0 meanwhile.
    log.add(in(kTid), 20);
    log.add(out(kTid), 30);
    log.add(in(kTid), 40);
    log.add(out(kOther), 45);
    log.add(again, 50);
    log.add(in(kOther), 55);
    log.add(out(kTid), 60);
    log.add(in(kTid), 70);
    log.finish();
    CHECK(counts(log.take_parts()) == std::pair<std::uint64_t, std::uint64_t>{1, 0});
    CHECK(log.missing() == std::vector<std::uint64_t>{15, 50});
}

TEST_CASE("records count again when those of all processors are there") {
    OffCpuLog log;
    for (const std::uint16_t cpu : {std::uint16_t{0}, std::uint16_t{1}})
        log.add({.cpu = cpu, .out = true, .lost = true}, 10);
    log.add({.cpu = 1, .lost = true}, 20);
    log.add(out(kTid), 30);
    log.add(in(kTid), 40);
    log.add({.cpu = 0, .lost = true}, 50);
    log.add(out(kTid), 60);
    log.add(in(kTid), 70);
    log.finish();
    CHECK(counts(log.take_parts()).first == 1);
    CHECK(log.missing() == std::vector<std::uint64_t>{10, 50});
}

TEST_CASE("times in which records are missing are few, and cover all of them") {
    constexpr std::uint64_t kLosses = 1000, kApart = 10;
    OffCpuLog log;
    for (std::uint64_t i = 0; i < kLosses; ++i) {
        log.add({.cpu = 0, .out = true, .lost = true}, kApart * i);
        log.add({.cpu = 0, .lost = true}, kApart * i + 1);
    }
    CHECK(log.missing().size() == 2 * rdam::trace::SwitchInfo::kMostMissing);
    CHECK(log.missing().back() == kApart * (kLosses - 1) + 1);
    log.add({.cpu = 1, .out = true, .lost = true}, kApart * kLosses);
    log.finish();
    CHECK(log.missing().back() == UINT64_MAX);
    CHECK(std::ranges::is_sorted(log.missing()));
}

TEST_CASE("a thread that is out at the end stays out, unless the recording stopped before") {
    OffCpuLog finished;
    finished.add(out(kTid), 10);
    finished.finish();
    CHECK(counts(finished.take_parts()).first == 1);

    OffCpuLog stopped;
    stopped.add(out(kTid), 10);
    stopped.stop();
    CHECK(stopped.take_parts().empty());
}

TEST_CASE("a long run does not stay in memory") {
    OffCpuLog log;
    std::uint64_t taken = 0;
    constexpr std::uint64_t kIntervals = 200'000;
    for (std::uint64_t i = 0; i < kIntervals; ++i) {
        log.add(out(kTid), 10 * i);
        log.add(in(kTid), 10 * i + 5);
        for (const OffCpuLog::Part& part : log.take_parts()) {
            CHECK(part.intervals.intervals() <= rdam::trace::format::kMaxEvents);
            taken += part.intervals.intervals();
        }
    }
    CHECK(taken > kIntervals / 2);
    log.finish();
    CHECK(taken + counts(log.take_parts()).first == kIntervals);
    CHECK(log.dropped() == 0);
}

TEST_CASE("what nobody takes is thrown away in the end, and counted") {
    OffCpuLog log;
    constexpr std::uint32_t kThreads = 6000;
    for (std::uint32_t tid = 1; tid <= kThreads; ++tid) {
        log.add(out(tid), 10);
        log.add(in(tid), 20);
    }
    log.finish();
    const auto parts = log.take_parts();
    CHECK(parts.size() < kThreads);
    CHECK(parts.size() + log.dropped() == kThreads);
}

TEST_CASE("times are interpolated between two looks at both clocks, and go on at that rate") {
    SwitchClock clock(rdam::shm::Clock::rdtscp);
    clock.set({.tsc = 1'000'000, .ns = 500'000}, {.tsc = 1'002'500, .ns = 501'000});
    CHECK(clock.ticks(500'000) == 1'000'000);
    CHECK(clock.ticks(500'400) == 1'001'000);
    CHECK(clock.ticks(501'000) == 1'002'500);
    CHECK(clock.ticks(502'000) == 1'005'000);
    CHECK(clock.ticks(499'000) == 997'500);
}

TEST_CASE("by the kernel's own clock a tick is a nanosecond") {
    SwitchClock clock(rdam::shm::Clock::monotonic);
    clock.look();
    CHECK(clock.ticks(123'456'789) == 123'456'789);
}

TEST_CASE("looks at the clocks agree with the time-stamp counter") {
    SwitchClock clock(rdam::shm::Clock::rdtsc);
    clock.look();
    const Moment now = read_moment(clock.source());
    clock.look();
    // Both readings are of one moment: apart by no more than a reading takes when it is disturbed.
    const auto difference = static_cast<std::int64_t>(clock.ticks(now.ns) - now.tsc);
    CHECK(std::abs(difference) < 50'000'000);
}

TEST_CASE("Records that were lost count for the time in which they were, however late that is told") {
    constexpr std::uint64_t kMs = 1'000'000, kNone = UINT64_MAX;
    SwitchCost cost(1000 * kMs);
    CHECK(!cost.add(kMs, 0, kNone, 1050 * kMs));
    CHECK(cost.add(kMs, 0, kNone, 1100 * kMs) == Approx(0.02));
    CHECK(cost.add(2 * kMs, 0, kNone, 1200 * kMs) == Approx(0.02));
    // Nobody has emptied the ring for 0.9 s, and the kernel tells of it with the next record.
    CHECK(cost.add(6 * kMs, 0, kNone, 2000 * kMs) == Approx(0.0075));
    CHECK(cost.add(2 * kMs, 18 * kMs, 1200 * kMs, 2100 * kMs) == Approx(0.0222).epsilon(0.01));
    CHECK(cost.add(2 * kMs, 0, kNone, 2200 * kMs) == Approx(0.02));
}
