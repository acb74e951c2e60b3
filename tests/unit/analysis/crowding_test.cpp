// Who waits for a processor that another thread of the program has loses nothing.
#include "analyzer/calls/crowding.h"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "analyzer/output/notes.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/analysis/recording_file.h"
#include "tests/unit/catch.h"
#include "tools/trace/reader.h"

namespace rdam::test {
namespace {

constexpr std::uint64_t kEnd = 2000;
constexpr std::size_t kThreads = 4;
constexpr int kNobody = -1;

/// Two processors, and by tick which thread has them.
using Schedule = std::array<std::array<int, kEnd>, 2>;

int processor_of(const Schedule& schedule, int thread, std::uint64_t tick) {
    for (int cpu = 0; cpu < 2; ++cpu)
        if (schedule[static_cast<std::size_t>(cpu)][tick] == thread) return cpu;
    return kNobody;
}

Schedule random_schedule(std::mt19937& random) {
    Schedule schedule;
    std::array<std::uint64_t, 2> left{};
    std::array<int, 2> now{kNobody, kNobody};
    for (std::uint64_t tick = 0; tick < kEnd; ++tick) {
        for (std::size_t cpu = 0; cpu < 2; ++cpu) {
            if (left[cpu]-- == 0) {
                left[cpu] = 1 + random() % 40;
                // A thread that changes processors is off both for a moment.
                const int beside = tick > 0 ? schedule[1 - cpu][tick - 1] : kNobody;
                do
                    now[cpu] = static_cast<int>(random() % (kThreads + 1)) - 1;
                while (now[cpu] != kNobody && (now[cpu] == now[1 - cpu] || now[cpu] == beside));
            }
            schedule[cpu][tick] = now[cpu];
        }
    }
    return schedule;
}

/// Always preempted when it is off.
std::vector<trace::OffCpu> intervals_of(const Schedule& schedule, int thread) {
    std::vector<trace::OffCpu> intervals;
    bool off = false;
    for (std::uint64_t tick = 0; tick < kEnd; ++tick) {
        const int cpu = processor_of(schedule, thread, tick);
        if (cpu == kNobody && !off) intervals.push_back({.out = tick, .in = kEnd, .preempted = true});
        if (cpu != kNobody && off) {
            intervals.back().in = tick;
            intervals.back().cpu = static_cast<std::uint16_t>(cpu);
        }
        off = cpu == kNobody;
    }
    return intervals;
}

}  // namespace

TEST_CASE("a preempted thread's time is the program's while another thread has its processor", "[crowding]") {
    std::mt19937 random;
    for (int round = 0; round < 50; ++round) {
        const Schedule schedule = random_schedule(random);
        calls::ProgramProcessors program{0};
        std::array<std::vector<trace::OffCpu>, kThreads> all;
        for (int thread = 0; thread < static_cast<int>(kThreads); ++thread) {
            all[static_cast<std::size_t>(thread)] = intervals_of(schedule, thread);
            program.add(all[static_cast<std::size_t>(thread)]);
        }
        program.seal();
        // Where a thread was before it was first off, and after it was last, is not known.
        const auto is_known = [&](int thread, std::uint64_t tick) {
            const auto& intervals = all[static_cast<std::size_t>(thread)];
            return !intervals.empty() && tick >= intervals.front().in && tick < intervals.back().out;
        };
        for (int thread = 0; thread < static_cast<int>(kThreads); ++thread) {
            const auto& intervals = all[static_cast<std::size_t>(thread)];
            std::uint64_t ticks = 0, whole = 0;
            for (const trace::OffCpu& each : intervals)
                whole += each.in - each.out;
            for (const trace::OffCpu& each : program.marked(intervals)) {
                REQUIRE(each.out < each.in);
                ticks += each.in - each.out;
                // The processor that it had before it was off; of the first absence nobody knows.
                const auto absence =
                    std::ranges::upper_bound(intervals, each.out, {}, &trace::OffCpu::out) - 1;
                if (absence == intervals.begin()) continue;
                const auto cpu = static_cast<std::size_t>(processor_of(schedule, thread, absence->out - 1));
                for (std::uint64_t tick = each.out; tick < each.in; ++tick) {
                    const int other = schedule[cpu][tick];
                    REQUIRE(each.by_program == (other != kNobody && is_known(other, tick)));
                }
            }
            REQUIRE(ticks == whole);
        }
    }
}

TEST_CASE("what the recorder had stays the recorder's, and who waits for something is not preempted",
          "[crowding]") {
    calls::ProgramProcessors program{5};
    program.add(
        std::vector<trace::OffCpu>{{.out = 0, .in = 100, .cpu = 0}, {.out = 200, .in = 300, .cpu = 0}});
    program.seal();
    const std::vector<trace::OffCpu> intervals = {
        {.out = 10, .in = 20, .cpu = 0},
        {.out = 110, .in = 120, .cpu = 0, .preempted = true, .by_recorder = true},
        {.out = 130, .in = 140, .cpu = 0},
        {.out = 150, .in = 250, .cpu = 0, .preempted = true}};
    const auto marked = program.marked(intervals);
    REQUIRE(marked.size() == 5);
    CHECK_FALSE(marked[1].by_program);
    CHECK_FALSE(marked[2].by_program);
    CHECK((marked[3].out == 150 && marked[3].in == 200 && marked[3].by_program));
    CHECK((marked[4].out == 200 && marked[4].in == 250 && !marked[4].by_program));
    CHECK(trace::same_absence(marked[3], marked[4]));
}

TEST_CASE("a change of hands is not somebody else's turn", "[crowding]") {
    calls::ProgramProcessors program{5};
    program.add(
        std::vector<trace::OffCpu>{{.out = 0, .in = 100, .cpu = 1}, {.out = 200, .in = 300, .cpu = 1}});
    program.add(
        std::vector<trace::OffCpu>{{.out = 50, .in = 204, .cpu = 1}, {.out = 290, .in = 400, .cpu = 1}});
    program.seal();
    const auto marked =
        program.marked(std::vector<trace::OffCpu>{{.out = 101, .in = 289, .cpu = 1, .preempted = true}});
    REQUIRE(marked.size() == 1);
    CHECK(marked[0].by_program);
}

TEST_CASE("constant work of two threads on one processor loses nothing", "[crowding]") {
    Recording recording{1};
    recording.info.switches.state = trace::SwitchInfo::State::recorded;
    for (int t = 0; t < 2; ++t) {
        // Turns of 1000 ticks; each call takes 300 of the thread's own.
        ThreadRecording& thread = recording.thread(static_cast<std::uint32_t>(t + 1), 100'000);
        std::uint64_t own = 0;
        const auto wall = [&](std::uint64_t ticks) {
            return 1000 + ticks % 1000 + 2000 * (ticks / 1000) + (t == 1 ? 1000 : 0);
        };
        for (; wall(own + 320) < 95'000; own += 310)
            thread.enter(wall(own), 0).leave(wall(own + 300), 0);
        for (std::uint64_t turn = 1; wall(1000 * turn) < 97'000; ++turn)
            thread.off(
                {.out = wall(1000 * turn) - 1000, .in = wall(1000 * turn), .cpu = 0, .preempted = true});
    }
    const MemoryFile file;
    write_file(recording, file.path());
    const auto reader = trace::TraceReader::open(file.path());
    REQUIRE(reader);
    const auto report = score::score_trace(*reader, {}, {.samples = true, .progress = {}});
    REQUIRE(report);
    // A turn or two at the ends, before anybody knows who had the processor.
    CHECK(report->functions[0].lost_ns < 0.05 * report->threads_ns);
    CHECK(report->crowded_ns > 80'000);
    const auto notes = output::notes(*report);
    CHECK(std::ranges::any_of(notes, [](const std::string& note) {
        return note.find("processors that other threads of the program occupied") != std::string::npos;
    }));
}

}  // namespace rdam::test
