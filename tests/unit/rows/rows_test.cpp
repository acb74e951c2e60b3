#include "analyzer/inputs/rows/rows.h"

#include <fmt/format.h>

#include <map>

#include "analyzer/output/notes.h"
#include "analyzer/report/score_trace.h"
#include "tests/unit/analysis/recording_file.h"
#include "tests/unit/catch.h"
#include "tests/unit/contains.h"

using namespace rdam;
using namespace rdam::test;
using Lines = std::vector<std::string>;

namespace {

trace::TraceReader rows_of(const Recording& recording) {
    const trace::TraceReader reader = reader_of(recording);
    REQUIRE(inputs::switches_stacks(reader));
    auto rows = inputs::divide_into_rows(reader, "trace", [](std::uint64_t, std::uint64_t) {});
    if (!rows) FAIL(rows.error().message);
    CHECK_FALSE(inputs::switches_stacks(*rows));
    return std::move(*rows);
}

std::string text(const trace::Event& event) {
    const auto name = static_cast<char>('a' + event.function);
    std::string words;
    for (const std::uint64_t word : event.words)
        words += fmt::format(" {}", word);
    if (event.sampling != 0) words += fmt::format(" 2^-{}", event.sampling - 1);
    if (event.instructions != 0) words += fmt::format(" #{}", event.instructions);
    switch (event.kind) {
        case trace::EventKind::enter:
            return fmt::format("{} {}{}", event.tsc, name, words);
        case trace::EventKind::tail_enter:
            return fmt::format("{} tail {}{}", event.tsc, name, words);
        case trace::EventKind::leave:
            return fmt::format("{} {}{}{}", event.tsc, event.unwound ? "unwound " : "/", name, words);
        default:
            return fmt::format("{}-{} pause", event.tsc, event.until);
    }
}

/// By row, named `main` or `fiber 3`.
std::map<std::string, Lines> lines_of(const trace::TraceReader& rows) {
    std::map<std::string, Lines> out;
    for (std::uint32_t t = 0; t < rows.info().threads.size(); ++t) {
        Lines& lines = out[rows.info().threads[t].name];
        REQUIRE(rows.read_thread(
            t,
            [&](std::span<const trace::Event> events) {
                for (const trace::Event& event : events)
                    lines.push_back(text(event));
            },
            [&] { lines.emplace_back("gap"); }));
    }
    return out;
}

ThreadRecording& named(Recording& recording, const std::string& name, std::uint32_t tid) {
    ThreadRecording& thread = recording.thread(1, 100'000);
    recording.info.threads.back().name = name;
    recording.info.threads.back().tid = tid;
    return thread;
}

score::Report score_of(const trace::TraceReader& reader) {
    auto report = score::score_trace(reader, {}, {});
    if (!report) FAIL(report.error().message);
    return std::move(*report);
}

}  // namespace

TEST_CASE("ends belong to the calls on their own stack") {
    Recording recording(3);
    named(recording, "main", 10)
        .enter(10, kC)
        .switch_to(20, 1)
        .enter(20, kA)
        .enter(30, kB)
        .switch_to(40, 2)
        .enter(40, kA)
        .switch_to(50, 1)
        .leave(50, kB)
        .leave(60, kA)
        .switch_to(70, 2)
        .leave(70, kA)
        .switch_to(80, 0)
        .leave(90, kC);
    const trace::TraceReader rows = rows_of(recording);
    const auto lines = lines_of(rows);
    CHECK(lines.at("main") == Lines{"10 c", "90 /c"});
    CHECK(lines.at("main's fiber 1") == Lines{"20 a", "30 b", "50 /b", "60 /a"});
    CHECK(lines.at("main's fiber 2") == Lines{"40 a", "70 /a"});
    const auto& threads = rows.info().threads;
    REQUIRE(threads.size() == 3);
    CHECK(threads[0].fiber == 0);
    CHECK(threads[0].tid == 10);
    CHECK(threads[0].start == 1);
    CHECK(threads[0].end == 100'000);
    CHECK(threads[1].fiber == 1);
    CHECK(threads[1].start == 20);
    CHECK(threads[1].end == 60);
    CHECK(threads[2].start == 40);
    CHECK(threads[1].tid > 4'194'304 - 1);
    CHECK(threads[1].tid != threads[2].tid);
}

TEST_CASE("a thread may end calls on the stack that another one began on") {
    Recording recording(3);
    constexpr std::uint64_t kStackOfTen = (std::uint64_t{1} << 31) + 10;
    named(recording, "main", 10)
        .enter(10, kA)
        .switch_to(20, 1)
        .enter(20, kB)
        .leave(80, kB)
        .switch_to(90, 0)
        .enter(90, kC)
        .leave(95, kC);
    named(recording, "other", 11)
        .enter(15, kC)
        .switch_to(30, kStackOfTen)
        .leave(40, kA)
        .enter(50, kA)
        .switch_to(60, 0)
        .leave(61, kC)
        .switch_to(62, kStackOfTen)
        .leave(70, kA)
        .switch_to(75, kStackOfTen + 5)
        .enter(76, kB)
        .leave(77, kB);
    const auto lines = lines_of(rows_of(recording));
    CHECK(lines.at("main") == Lines{"10 a", "40 /a", "50 a", "70 /a", "90 c", "95 /c"});
    CHECK(lines.at("main's fiber 1") == Lines{"20 b", "80 /b"});
    CHECK(lines.at("other") == Lines{"15 c", "61 /c"});
    // Of no thread that is known.
    CHECK(lines.at("other's fiber 2147483663") == Lines{"76 b", "77 /b"});
}

TEST_CASE("where a tid was given twice, the stack is that of the thread that lived then") {
    Recording recording(1);
    constexpr std::uint64_t kStackOfTen = (std::uint64_t{1} << 31) + 10;
    named(recording, "early", 10).enter(10, kA);
    recording.info.threads.back().end = 100;
    named(recording, "late", 10).enter(210, kA);
    recording.info.threads.back().start = 200;
    named(recording, "other", 11)
        .switch_to(20, kStackOfTen)
        .leave(30, kA)
        .switch_to(40, 0)
        .switch_to(220, kStackOfTen)
        .leave(230, kA);
    const auto lines = lines_of(rows_of(recording));
    CHECK(lines.at("early") == Lines{"10 a", "30 /a"});
    CHECK(lines.at("late") == Lines{"210 a", "230 /a"});
}

TEST_CASE("calls of fibers are scored by their own durations") {
    Recording recording(1);
    ThreadRecording& thread = named(recording, "main", 10);
    // Four fibers in turn: each call takes 400, but the last of each, which takes 800.
    std::uint64_t now = 100;
    for (int call = 0; call < 40; ++call) {
        const std::uint64_t step = call == 39 ? 200 : 100;
        for (std::uint64_t fiber = 1; fiber <= 4; ++fiber) {
            thread.switch_to(now, fiber);
            if (call > 0) thread.leave(now, kA);
            if (call < 39) thread.enter(now, kA);
            now += step;
        }
    }
    const score::Report report = score_of(rows_of(recording));
    const score::FunctionRow& a = row(report, "a");
    CHECK(a.outermost == 4 * 39);
    CHECK(a.unscored == 0);
    CHECK(a.min_ns == 400);
    CHECK(a.max_ns < 800);
    CHECK(a.threads.size() == 4);
    CHECK(a.has_score);
    CHECK_FALSE(a.unknown());
    CHECK(contains(output::notes(report).front(), "Calls on 4 stacks of their own"));
}

TEST_CASE("a stack that goes from thread to thread is one row") {
    Recording recording(2);
    named(recording, "one", 10)
        .switch_to(100, 7)
        .enter(100, kA)
        .enter(110, kB)
        .switch_to(120, 0)
        .call(130, kB, 5)
        .switch_to(400, 7)
        .leave(410, kA)
        .switch_to(420, 0);
    named(recording, "two", 11)
        .call(90, kA, 5)
        .switch_to(200, 7)
        .leave(210, kB)
        .enter(220, kB)
        .leave(230, kB)
        .switch_to(240, 0)
        .call(300, kB, 5);
    const auto lines = lines_of(rows_of(recording));
    CHECK(lines.at("fiber 7") == Lines{"100 a", "110 b", "210 /b", "220 b", "230 /b", "410 /a"});
    CHECK(lines.at("one") == Lines{"130 b", "135 /b"});
    CHECK(lines.at("two") == Lines{"90 a", "95 /a", "300 b", "305 /b"});
}

TEST_CASE("a thread that has recorded nothing between two turns on a stack does not notice that it left it") {
    Recording recording(2);
    named(recording, "one", 10).switch_to(100, 7).enter(100, kA).leave(500, kA).enter(510, kA).leave(520, kA);
    named(recording, "two", 11)
        .switch_to(200, 7)
        .enter(210, kB)
        .leave(220, kB)
        .switch_to(230, 8)
        .enter(240, kB)
        .switch_to(515, 7)
        .enter(516, kB)
        .leave(517, kB);
    const auto lines = lines_of(rows_of(recording));
    CHECK(lines.at("fiber 7") ==
          Lines{"100 a", "210 b", "220 /b", "500 /a", "510 a", "516 b", "517 /b", "520 /a"});
}

TEST_CASE("an exception ends calls of its own fiber, in whatever thread it was begun") {
    Recording recording(2);
    named(recording, "one", 10)
        .switch_to(100, 7)
        .enter(100, kA)
        .enter(110, kB)
        .switch_to(120, 8)
        .enter(120, kA)
        .enter(130, kB)
        .switch_to(140, 0);
    named(recording, "two", 11).switch_to(200, 7).unwind(210, kB).unwind(220, kA);
    const trace::TraceReader rows = rows_of(recording);
    const auto lines = lines_of(rows);
    CHECK(lines.at("fiber 7") == Lines{"100 a", "110 b", "210 unwound b", "220 unwound a"});
    CHECK(lines.at("one's fiber 8") == Lines{"120 a", "130 b"});
    const score::Report report = score_of(rows);
    CHECK(row(report, "a").outermost == 1);
    CHECK(row(report, "a").max_ns == 120);
    CHECK(row(report, "a").unscored == 1);
    CHECK(report.counts.abandoned_by_jump == 0);
    CHECK(report.counts.abandoned_at_end == 2);
}

TEST_CASE("a function whose calls all stay open on fibers has no score") {
    Recording recording(2);
    ThreadRecording& thread = named(recording, "main", 10);
    for (std::uint64_t fiber = 1; fiber <= 3; ++fiber)
        thread.switch_to(fiber * 100, fiber).enter(fiber * 100, kA).call(fiber * 100 + 10, kB, 20);
    const score::Report report = score_of(rows_of(recording));
    CHECK(row(report, "a").occurrences == 3);
    CHECK(row(report, "a").no_score);
    CHECK(row(report, "a").unknown());
    CHECK_FALSE(row(report, "b").unknown());
    CHECK(output::no_score_reason(row(report, "a")) == "no call was seen to end");
}

TEST_CASE("pauses and times off the processor belong to the row that ran then") {
    Recording recording(1);
    recording.info.switches.state = trace::SwitchInfo::State::recorded;
    recording.info.switches.reason = "";
    named(recording, "main", 10)
        .off({.out = 50, .in = 60, .cpu = 1})
        .off({.out = 140, .in = 150, .cpu = 1, .preempted = true, .by_recorder = true})
        .off({.out = 190, .in = 210, .cpu = 1})
        .off({.out = 320, .in = 330, .cpu = 1})
        .enter(40, kA)
        .switch_to(100, 1)
        .enter(100, kA)
        .pause(110, 120)
        .switch_to(200, 2)
        .enter(200, kA)
        .switch_to(300, 1)
        .leave(310, kA)
        .switch_to(315, 0)
        .leave(340, kA);
    const trace::TraceReader rows = rows_of(recording);
    CHECK(lines_of(rows).at("main's fiber 1") == Lines{"100 a", "110-120 pause", "310 /a"});
    const auto off = [&](std::uint32_t row) {
        const auto intervals = rows.off_cpu(row);
        REQUIRE(intervals);
        Lines out;
        for (const trace::OffCpu& each : *intervals)
            out.push_back(fmt::format("{}-{}{}", each.out, each.in, each.by_recorder ? " recorder" : ""));
        return out;
    };
    CHECK(off(0) == Lines{"50-60", "320-330"});
    CHECK(off(1) == Lines{"140-150 recorder", "190-200"});
    CHECK(off(2) == Lines{});
    // 100 to 310, less a pause of 10 and 10 of the recorder's.
    CHECK(row(score_of(rows), "a").min_ns == 190);
}

TEST_CASE("that other threads of the program had the processor is known of a fiber's time, too") {
    Recording recording(1);
    recording.info.switches.state = trace::SwitchInfo::State::recorded;
    named(recording, "main", 10)
        .off({.out = 10, .in = 20, .cpu = 3})
        .off({.out = 30'000, .in = 60'000, .cpu = 3, .preempted = true})
        .off({.out = 90'000, .in = 91'000, .cpu = 3})
        .switch_to(25'000, 1)
        .enter(25'000, kA)
        .leave(70'000, kA)
        .switch_to(80'000, 0)
        .call(85'000, kA, 10);
    named(recording, "other", 11)
        .off({.out = 1000, .in = 30'000, .cpu = 3})
        .off({.out = 60'000, .in = 61'000, .cpu = 3})
        .call(40'000, kA, 10);
    const trace::TraceReader rows = rows_of(recording);
    CHECK(rows.info().switches.marked);
    const auto off = rows.off_cpu(2);
    REQUIRE(off);
    REQUIRE(off->size() == 1);
    CHECK(off->front().by_program);
    CHECK(row(score_of(rows), "a").max_ns == 15'000);
}

TEST_CASE("instructions are those of calls during which the row ran all the time") {
    Recording recording(2);
    named(recording, "main", 10)
        .switch_to(100, 1)
        .enter(100, kA)
        .counted(1000)
        .enter(110, kB)
        .counted(1100)
        .leave(120, kB)
        .counted(1200)
        .switch_to(130, 2)
        .enter(130, kB)
        .counted(1300)
        .leave(140, kB)
        .counted(1400)
        .switch_to(150, 1)
        .leave(160, kA)
        .counted(1500);
    const auto lines = lines_of(rows_of(recording));
    CHECK(lines.at("main's fiber 1") == Lines{"100 a #1000", "110 b #1100", "120 /b #1200", "160 /a"});
    CHECK(lines.at("main's fiber 2") == Lines{"130 b #1300", "140 /b #1400"});
}

TEST_CASE("where events are missing, no open call of a fiber is trusted") {
    Recording recording(1);
    named(recording, "main", 10)
        .switch_to(100, 1)
        .enter(100, kA)
        .switch_to(110, 0)
        .enter(120, kA)
        .gap()
        .leave(200, kA)
        .call(210, kA, 5)
        .switch_to(300, 1)
        .leave(310, kA)
        .call(320, kA, 5);
    named(recording, "other", 11).enter(50, kA).leave(450, kA);
    const auto lines = lines_of(rows_of(recording));
    // It is not known on which stack the calls at 200 and 210 were: not among those of the thread.
    CHECK(lines.at("main") == Lines{"120 a", "gap", "200 /a", "210 a", "215 /a"});
    CHECK(lines.at("main's fiber 1") == Lines{"100 a", "gap", "310 /a", "320 a", "325 /a"});
    CHECK(lines.at("other") == Lines{"50 a", "450 /a"});
}

TEST_CASE("what begins on a fiber inside of a sampled call tree has the tree's weight") {
    Recording recording(2);
    recording.info.process.max_overhead = 0.1;
    named(recording, "main", 10)
        .tree(3)
        .enter(100, kA)
        .switch_to(110, 1)
        .enter(110, kB)
        .enter(120, kB)
        .leave(130, kB)
        .leave(140, kB)
        .switch_to(150, 0)
        .leave(160, kA)
        .switch_to(170, 1)
        .enter(170, kB)
        .leave(180, kB);
    const auto lines = lines_of(rows_of(recording));
    CHECK(lines.at("main") == Lines{"100 a 2^-3", "160 /a"});
    CHECK(lines.at("main's fiber 1") == Lines{"110 b 2^-3", "120 b", "130 /b", "140 /b", "170 b", "180 /b"});
}

TEST_CASE("what a thread has counted is divided among its rows") {
    Recording recording(1);
    trace::FunctionInfo& a = recording.info.functions[kA];
    a.sampled = a.counted = true;
    a.windowed_since = 100;
    recording.info.windows = {{100, 200}, {300, 400}, {500, 600}, {700, 800}, {900, 1000}};
    ThreadRecording& thread = named(recording, "main", 10);
    thread.call(50, kA, 1);
    for (std::uint64_t at = 100; at < 1000; at += 200) {
        thread.switch_to(at, 1);
        for (std::uint64_t i = 0; i < 3; ++i)
            thread.call(at + 10 + i * 10, kA, 1 + i);
        thread.switch_to(at + 50, 2);
        thread.call(at + 60, kA, 1);
    }
    recording.info.threads[0].calls = {{kA, 1001}};
    recording.info.threads[0].calls_until = 200'000;
    const trace::TraceReader rows = rows_of(recording);
    std::map<std::string, std::uint64_t> calls;
    for (const trace::ThreadInfo& each : rows.info().threads)
        for (const trace::CallCount& count : each.calls)
            calls[each.name] += count.calls;
    CHECK(calls["main"] == 1);
    CHECK(calls["main's fiber 1"] == 750);
    CHECK(calls["main's fiber 2"] == 250);
    const score::Report report = score_of(rows);
    CHECK(row(report, "a").occurrences == 1001);
}

TEST_CASE("on stacks of which it is not known which they are, calls end before the next switch") {
    Recording recording(1);
    named(recording, "main", 10)
        .switch_to(100, inputs::kSomeStack)
        .call(100, kA, 5)
        .enter(110, kA)
        .switch_to(120, 0)
        .switch_to(130, inputs::kSomeStack)
        .leave(130, kA)
        .call(140, kA, 5);
    named(recording, "other", 11).switch_to(100, inputs::kSomeStack).call(120, kA, 5);
    const auto lines = lines_of(rows_of(recording));
    CHECK(lines.at("main's other fibers") ==
          Lines{"100 a", "105 /a", "110 a", "gap", "130 /a", "140 a", "145 /a"});
    CHECK(lines.at("other's other fibers") == Lines{"120 a", "125 /a"});
}

TEST_CASE("what is known of a trace is known of its rows") {
    Recording recording(2, 1);
    recording.info.process.pid = 77;
    recording.info.remarks = {"a remark"};
    recording.info.dropped = 5;
    ThreadRecording& main = named(recording, "", 10);
    main.switch_to(100, 1).enter(100, kA, {42}).tail_enter(110, kB, {43}).leave(120, kA);
    main.switch_to(130, 0);
    recording.info.threads[0].dropped = 5;
    const trace::TraceReader rows = rows_of(recording);
    CHECK(rows.info().process.pid == 77);
    CHECK(rows.info().remarks == recording.info.remarks);
    CHECK(rows.info().dropped == 5);
    CHECK(rows.info().threads[0].dropped == 5);
    CHECK(rows.info().threads[0].end == 100'000);
    CHECK(lines_of(rows).at("fiber 1") == Lines{"100 a 42", "110 tail b 43", "120 /a"});
}

TEST_CASE("a hundred thousand stacks are as many rows") {
    constexpr std::uint64_t kStacks = 100'000;
    Recording recording(1);
    ThreadRecording& thread = named(recording, "main", 10);
    recording.info.threads[0].end = 10'000'000;
    for (std::uint64_t turn = 0; turn < 2; ++turn)
        for (std::uint64_t stack = 1; stack <= kStacks; ++stack) {
            const std::uint64_t at = 100 + (turn * kStacks + stack) * 10;
            thread.switch_to(at, stack);
            if (turn == 0)
                thread.enter(at, kA);
            else
                thread.leave(at, kA);
        }
    const trace::TraceReader rows = rows_of(recording);
    REQUIRE(rows.info().threads.size() == 1 + kStacks);
    CHECK(rows.events() == 2 * kStacks);
    CHECK(rows.info().threads[kStacks].end - rows.info().threads[kStacks].start == 10 * kStacks);
}
