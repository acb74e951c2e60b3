// The definitions of docs/analyzer.md on traces small enough to be computed by hand.
#include <cmath>

#include "analyzer/output/fields.h"
#include "analyzer/output/notes.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

void calls(ThreadRecording& thread, std::uint32_t function, std::initializer_list<std::uint64_t> durations,
           std::uint64_t from = 1000) {
    for (const std::uint64_t duration : durations) {
        thread.call(from, function, duration);
        from += duration + 1;
    }
}

}  // namespace

TEST_CASE("lost time is what exceeds the fastest execution", "[score]") {
    Recording recording{1};
    calls(recording.thread(1000, 2000), kA, {10, 30, 10, 60});
    const score::Report report = analyze(recording);
    const score::FunctionRow& a = row(report, "a");
    CHECK(a.lost_ns == 70);
    CHECK(a.rdam == Approx(0.07));
    CHECK(a.rdam_all == Approx(0.07));
    CHECK(a.rdam_self == Approx(0.07));
    CHECK(a.rdam_flat == Approx(0.07));
    CHECK(a.occurrences == 4);
    CHECK(a.min_ns == 10);
    CHECK(a.median_ns == 10);
    CHECK(a.max_ns == 60);
}

TEST_CASE("a function's score is that of its worst thread", "[score]") {
    Recording recording{1};
    calls(recording.thread(1000, 2000), kA, {10, 20});
    calls(recording.thread(1000, 2000), kA, {10, 110});
    const score::FunctionRow a = row(analyze(recording), "a");
    CHECK(a.rdam == Approx(0.1));
    CHECK(a.rdam_all == Approx(0.055));
    REQUIRE(a.threads.size() == 2);
    CHECK(a.threads[0].rdam == Approx(0.1));
    CHECK(a.threads[1].rdam == Approx(0.01));
}

TEST_CASE("each thread is compared with itself alone", "[score]") {
    Recording recording{1};
    calls(recording.thread(1000, 2000), kA, {10, 10});
    calls(recording.thread(1000, 2000), kA, {90, 90});
    const score::FunctionRow a = row(analyze(recording), "a");
    CHECK(a.rdam == 0);
    CHECK(a.lost_ns == 0);
}

TEST_CASE("threads that lived less than a hundredth of the run do not set the score", "[score]") {
    Recording recording{1};
    calls(recording.thread(1, 10001), kA, {10, 11});
    calls(recording.thread(1000, 1090), kA, {10, 50});
    const score::Report report = analyze(recording);
    CHECK(row(report, "a").rdam == Approx(0.0001));
    CHECK(row(report, "a").lost_ns == 41);
    CHECK(report.threads[1].short_lived);
    CHECK_FALSE(report.threads[0].short_lived);
}

TEST_CASE("ten levels of a recursion count once", "[score]") {
    Recording recording{1};
    ThreadRecording& thread = recording.thread(1, 10001);
    for (const std::uint64_t extra : {0U, 100U}) {
        const std::uint64_t begin = 1000 + extra * 50;
        for (std::uint64_t level = 0; level < 10; ++level)
            thread.enter(begin + level, kA);
        for (std::uint64_t level = 0; level < 10; ++level)
            thread.leave(begin + 20 + extra + level, kA);
    }
    const score::FunctionRow a = row(analyze(recording), "a");
    CHECK(a.lost_ns == 100);
    CHECK(a.rdam == Approx(0.01));
    CHECK(a.occurrences == 20);
    CHECK(a.outermost == 2);
    CHECK(a.rdam_self == Approx(0.01));
    CHECK(a.sequences.size() == 10);
}

TEST_CASE("calls are scored inside a call of their function that never ends, and a note counts them",
          "[score]") {
    Recording recording{2};
    ThreadRecording& thread = recording.thread(1, 10001);
    thread.enter(10, kA);
    for (std::uint64_t i = 0; i < 40; ++i)
        thread.enter(100 + i * 200, kA).call(110 + i * 200, kB, 5).leave(150 + i * 200 + i % 2 * 50, kA);
    const score::Report report = analyze(recording);
    const score::FunctionRow a = row(report, "a");
    CHECK(a.lost_ns == 1000);
    CHECK(a.rdam == Approx(0.1));
    CHECK(a.rdam_high > 0.9);  // what was open may have been lost
    CHECK(a.occurrences == 41);
    CHECK(a.outermost == 40);
    CHECK(a.unscored == 1);
    const auto notes = output::notes(report);
    CHECK(std::ranges::count(notes,
                             "40 calls were inside a call of the same function of which no end was seen: "
                             "scored all the same.") == 1);
}

TEST_CASE("self time does not count children twice", "[score]") {
    Recording recording{2};
    ThreadRecording& thread = recording.thread(50, 1050);
    thread.enter(100, kA).call(110, kB, 10).leave(130, kA);
    thread.enter(200, kA).call(210, kB, 60).leave(300, kA);  // b loses 50, a itself 20
    const score::Report report = analyze(recording);
    CHECK(row(report, "a").rdam == Approx(0.07));
    CHECK(row(report, "a").rdam_self == Approx(0.02));
    CHECK(row(report, "b").rdam_self == Approx(0.05));
}

TEST_CASE("calls with different children are not compared, but by rdam_flat", "[score]") {
    Recording recording{2};
    ThreadRecording& thread = recording.thread(50, 1050);
    thread.call(100, kA, 10);
    thread.enter(200, kA).call(210, kB, 60).leave(300, kA);
    const score::FunctionRow a = row(analyze(recording), "a");
    CHECK(a.rdam == 0);
    CHECK(a.rdam_flat == Approx(0.09));
    CHECK(a.single_sequences == 2);
    CHECK(a.sequences.empty());
}

TEST_CASE("a score is a lower bound where rare sequences hold more than a tenth of the time", "[score]") {
    const auto bound = [](std::uint64_t common, std::uint64_t rare) {
        Recording recording{2};
        ThreadRecording& thread = recording.thread(1, 1000001);
        std::uint64_t now = 0;
        for (std::uint64_t i = 0; i < common; ++i)
            thread.call(now += 100, kA, 10);
        for (std::uint64_t i = 0; i < rare; ++i) {
            now += 100;
            thread.enter(now, kA).call(now, kB, 1).leave(now + 10, kA);
        }
        return row(analyze(recording), "a").lower_bound;
    };
    CHECK(bound(29, 0));
    CHECK_FALSE(bound(30, 0));
    CHECK_FALSE(bound(270, 29));
    CHECK(bound(260, 29));
    CHECK_FALSE(bound(30, 30));
}

TEST_CASE("keys split a function, on demand or by default", "[score]") {
    Recording recording{1, 2};
    ThreadRecording& thread = recording.thread(50, 1050);
    thread.call(100, kA, 10, {1, 7})
        .call(200, kA, 10, {1, 8})
        .call(300, kA, 50, {2, 7})
        .call(400, kA, 50, {2, 8});
    CHECK(row(analyze(recording), "a").rdam == Approx(0.08));
    CHECK(row(analyze(recording, {.given = {.keys = {"a:k"}}}), "a").rdam == 0);
    CHECK(row(analyze(recording, {.given = {.keys = {"a:n"}}}), "a").rdam == Approx(0.08));
    recording.info.functions[0].parameters[0].key = true;
    CHECK(row(analyze(recording), "a").rdam == 0);
    CHECK(row(analyze(recording, {.given = {.no_keys = {"a:k"}}}), "a").rdam == Approx(0.08));
    CHECK(row(analyze(recording, {.given = {.no_keys = {"app:a:*"}}}), "a").rdam == Approx(0.08));
}

TEST_CASE("only the bytes of a parameter count as its key", "[score]") {
    Recording recording{1, 1};
    recording.info.functions[0].parameters[0].size = 4;
    ThreadRecording& thread = recording.thread(50, 1050);
    thread.call(100, kA, 10, {0xdead00000001}).call(200, kA, 50, {0xbeef00000001});
    CHECK(row(analyze(recording, {.given = {.keys = {"a:k"}}}), "a").rdam == Approx(0.04));
}

TEST_CASE("unknown names are answered with what there is", "[score]") {
    Recording recording{2, 2};
    recording.info.functions[0].name = "std::sort";
    const auto message = [&](const score::Settings& settings) {
        const auto result = score::resolve(recording.info, settings);
        return result ? std::string{} : result.error().message;
    };
    CHECK(message({.given = {.keys = {"std::sort:k"}}}).empty());
    CHECK(message({.given = {.keys = {"std::sort"}}}) ==
          "std::sort: not a parameter; write function:parameter, for example write:count");
    CHECK(message({.given = {.keys = {"b:z"}}}) == "b has no recorded parameter z; it has k, n");
    CHECK(message({.given = {.ignore = {"sort"}}}) ==
          "sort: the trace has no such function; similar: std::sort");
    CHECK(message({.given = {.ignore = {"app:std::sorted"}}}) ==
          "app:std::sorted: the trace has no such function; similar: std::sort");
    CHECK(message({.given = {.ignore = {"nothing"}}}) ==
          "nothing: the trace has no such function; it has std::sort, b");
    recording.info.functions.resize(9, recording.info.functions[1]);
    recording.info.functions[0].name = std::string(1000, 'x') + "\n";
    CHECK(message({.given = {.ignore = {"nothing"}}}) ==
          "nothing: the trace has no such function; it has " + std::string(159, 'x') + "…, b, b and 6 more");
}

TEST_CASE("an ignored function is as if it had not been recorded", "[score]") {
    Recording recording{2};
    ThreadRecording& thread = recording.thread(50, 1050);
    thread.call(100, kA, 10);
    thread.enter(200, kA).call(210, kB, 60).leave(300, kA);
    const score::Report report = analyze(recording, {.given = {.ignore = {"b"}}});
    CHECK(report.functions.size() == 1);
    CHECK(report.never_called.empty());
    CHECK(row(report, "a").rdam == Approx(0.09));
    CHECK(row(report, "a").rdam_self == Approx(0.09));
}

TEST_CASE("unscored calls are counted", "[score]") {
    Recording recording{2};
    recording.thread(50, 1050).call(100, kA, 10).enter(200, kA).enter(210, kB).leave(220, kA).enter(300, kA);
    const score::Report report = analyze(recording);
    CHECK(row(report, "a").occurrences == 3);
    CHECK(row(report, "a").unscored == 1);
    CHECK(row(report, "b").occurrences == 1);
    CHECK(row(report, "b").unscored == 1);
    CHECK(row(report, "b").outermost == 0);
    CHECK(report.counts.abandoned_by_jump == 1);
    CHECK(report.counts.abandoned_at_end == 1);
}

TEST_CASE("recording's own cost is said", "[score]") {
    Recording recording{1};
    recording.info.clock.ticks_per_second = 2e9;
    recording.info.clock.probe_ticks = 8;
    calls(recording.thread(1000, 2000), kA, {10, 10, 10, 10, 10});
    const score::Report report = analyze(recording);
    CHECK(report.probe_cost_ns == Approx(4));
    CHECK(report.perturbation == Approx(0.04));
    CHECK(report.duration_ns == Approx(500));
}

TEST_CASE("a thread's life without start or end is that of its events", "[score]") {
    Recording recording{1};
    calls(recording.thread(0, 0), kA, {10, 90}, 1000);
    const score::Report report = analyze(recording);
    CHECK(report.threads[0].duration_ns == 101);
    CHECK(row(report, "a").rdam == Approx(80.0 / 101));
}

TEST_CASE("events outside a thread's life lengthen it", "[score]") {
    Recording recording{1};
    calls(recording.thread(1050, 1060), kA, {10, 90}, 1000);
    CHECK(analyze(recording).threads[0].duration_ns == 101);
}

TEST_CASE("a trace without threads or events has a report too", "[score]") {
    CHECK(analyze(Recording{2}).functions.empty());
    Recording recording{2};
    recording.thread(100, 300);
    recording.info.clock.ticks_per_second = std::nan("");
    const score::Report report = analyze(recording);
    CHECK(report.functions.empty());
    CHECK(report.never_called.size() == 2);
    CHECK(report.duration_ns == 200);
}

TEST_CASE("stacks are weighed by the calls they stand for", "[score]") {
    Recording recording{1};
    recording.info.stacks = {{.function = kA, .caller = 0x10, .frames = {0x10, 0x20}},
                             {.function = kA, .caller = 0x30, .frames = {0x30, 0x20}},
                             {.function = kA, .caller = 0x30, .frames = {0x30, 0x40}}};
    ThreadRecording& thread = recording.thread(1, 10001);
    std::uint64_t now = 0;
    const auto call = [&](std::uint64_t caller, std::uint32_t stack) {
        now += 10;
        thread.enter(now, kA, {}, caller, stack).leave(now + 1, kA);
    };
    call(0x10, 1);
    call(0x30, 2);
    call(0x30, 3);
    for (int i = 0; i < 7; ++i)
        call(0x10, 0);
    const score::FunctionRow a = row(analyze(recording), "a");
    REQUIRE(a.callers.size() == 2);
    CHECK(a.callers[0].address == 0x10);
    CHECK(a.callers[0].calls == 8);
    REQUIRE(a.stacks.size() == 3);
    CHECK(a.stacks[0].frames == std::vector<std::uint64_t>{0x10, 0x20});
    CHECK(a.stacks[0].samples == 1);
    CHECK(a.stacks[0].calls == 8);
    CHECK(a.stacks[1].calls == 1);
}

TEST_CASE("callers are counted however many there are", "[score]") {
    Recording recording{1};
    ThreadRecording& thread = recording.thread(1, 1000001);
    std::uint64_t now = 0;
    for (std::uint64_t round = 0; round < 3; ++round) {
        for (std::uint64_t caller = 1; caller <= 50; ++caller) {
            now += 10;
            thread.enter(now, kA, {}, caller).leave(now + 1, kA);
        }
    }
    const score::FunctionRow a = row(analyze(recording), "a");
    REQUIRE(a.callers.size() == 50);
    for (const score::CallerRow& caller : a.callers)
        CHECK(caller.calls == 3);
}

TEST_CASE("each caller carries the time that its own calls lost", "[score]") {
    constexpr std::uint64_t kHere = 0x10, kThere = 0x20;
    Recording recording{2};
    ThreadRecording& thread = recording.thread(1, 100001);
    std::uint64_t now = 0;
    const auto call = [&](std::uint64_t caller, std::uint64_t duration) {
        now += 1000;
        thread.enter(now, kA, {}, caller).leave(now + duration, kA);
    };
    for (std::uint64_t i = 0; i < 10; ++i) {
        call(kHere, 100 + i % 2);
        call(kThere, 110 + 10 * i);
    }
    const auto check = [&](const score::FunctionRow& a) {
        REQUIRE(a.callers.size() == 2);
        CHECK(a.callers[0].address == kThere);
        CHECK(a.callers[0].calls == 10);
        CHECK(a.callers[1].calls == 10);
        CHECK(a.callers[0].share + a.callers[1].share == Approx(1));
        CHECK(a.callers[0].lost_ns + a.callers[1].lost_ns == Approx(a.lost_ns));
        return a.callers[0].lost_ns;
    };
    CHECK(check(row(analyze(recording), "a")) == 550);

    SECTION("calls with another content are compared with their like") {
        now += 1000;
        thread.enter(now, kA, {}, kThere).call(now + 10, kB, 5).leave(now + 5000, kA);
        const score::FunctionRow a = row(analyze(recording), "a");
        CHECK(a.callers[0].calls == 11);
        CHECK(a.callers[0].lost_ns == 550);
    }
    SECTION("recursive calls and those that never end are counted, and lose nothing") {
        now += 1000;
        thread.enter(now, kA, {}, kHere).enter(now + 1, kA, {}, 0x30).leave(now + 900, kA);
        thread.leave(now + 950, kA).enter(now + 1000, kA, {}, 0x40);
        const score::FunctionRow a = row(analyze(recording), "a");
        REQUIRE(a.callers.size() == 4);
        CHECK(a.callers[1].calls == 11);
        CHECK(a.callers[2].calls == 1);
        CHECK(a.callers[3].calls == 1);
        CHECK(a.callers[2].lost_ns + a.callers[3].lost_ns == 0);
    }
    SECTION("with a percentile as the baseline the parts add up too") {
        const score::Settings settings{
            .baseline = {.kind = score::Baseline::Kind::percentile, .fraction = 0.1}};
        check(row(analyze(recording, settings), "a"));
    }
}

TEST_CASE("the same sequence has one row for all threads", "[score]") {
    Recording recording{2};
    for (int t = 0; t < 3; ++t) {
        ThreadRecording& thread = recording.thread(50, 1050);
        if (t == 1) thread.call(10, kB, 1);  // gives sequences other numbers in this thread
        thread.enter(100, kA).call(110, kB, 10).leave(130, kA);
        thread.enter(200, kA).call(210, kB, 10).leave(240, kA);
    }
    const score::FunctionRow a = row(analyze(recording), "a");
    REQUIRE(a.sequences.size() == 1);
    CHECK(a.sequences[0].occurrences == 6);
    CHECK(a.sequences[0].name == "a[b]");
    CHECK(a.sequences[0].lost_ns == 30);
    CHECK(a.sequences[0].rdam == Approx(0.01));
}

TEST_CASE("a time-stamp that cannot be is no part of a thread's life", "[score]") {
    constexpr std::uint64_t kHour = 3'600'000'000'000;
    const auto [enter, leave] = GENERATE(table<std::uint64_t, std::uint64_t>(
        {{kHour + 500'000, kHour + 500'010}, {kHour + kHour, kHour + 500'010}, {kHour + 500'000, 10}}));
    Recording recording(1);
    ThreadRecording& thread = recording.thread(kHour, kHour + 1'000'000);
    for (std::uint64_t i = 0; i < 100; ++i)
        thread.call(kHour + 100 + 1000 * i, 0, i % 2 == 0 ? 10 : 110);
    thread.enter(enter, 0).leave(leave, 0);
    const score::Report report = analyze(recording);
    CHECK(report.counts.bad_clock == (leave < enter ? 1 : 0));
    CHECK(report.duration_ns == 1'000'000);
    CHECK(report.threads.at(0).duration_ns == 1'000'000);
    CHECK(row(report, "a").rdam == Approx(0.005));
}

TEST_CASE("a call that ends long after the run is impossible", "[score]") {
    Recording recording(1);
    ThreadRecording& thread = recording.thread(1, 1'000'001);
    for (std::uint64_t i = 0; i < 100; ++i)
        thread.call(100 + i * 1000, 0, 10 + i % 2);
    thread.call(200'000, 0, 3'600'000'000'000);
    thread.call(300'000, 0, 10);
    const score::Report report = analyze(recording);
    const score::FunctionRow& a = row(report, "a");
    CHECK(a.unscored == 1);
    CHECK(report.counts.bad_clock == 1);
    CHECK(report.threads.front().duration_ns == 1'000'000);
    CHECK(a.lost_ns == 50);
}

TEST_CASE("a wild time-stamp that no call ends with is none of the thread's life", "[score]") {
    Recording recording(1);
    ThreadRecording& thread = recording.thread(1, 1'000'001);
    thread.call(100, 0, 10).call(1000, 0, 20);
    thread.enter(3'600'000'000'000, 0);
    CHECK(analyze(recording).threads.front().duration_ns == 1'000'000);
}

TEST_CASE("a call that never ended may have lost all that it took beyond the fastest", "[score]") {
    Recording recording(2);
    ThreadRecording& thread = recording.thread(1, 1'000'001);
    thread.call(100, 0, 10).call(1000, 0, 10).call(2000, 1, 10);
    thread.enter(500'001, 0);
    const score::Report report = analyze(recording);
    const score::FunctionRow& a = row(report, "a");
    CHECK(a.rdam == 0);
    CHECK(a.open_ns == 499'990);
    CHECK(a.rdam_low == 0);
    CHECK(a.rdam_high == Approx(0.49999));
    CHECK(a.rdam_all_high == Approx(0.49999));
    CHECK(a.lower_bound);
    const score::FunctionRow& b = row(report, "b");
    CHECK(b.open_ns == 0);
    CHECK(b.rdam_high < 0.01);
}

TEST_CASE("a call that was cut short at the end, and is no longer than others, has lost nothing", "[score]") {
    Recording recording(1);
    ThreadRecording& thread = recording.thread(1, 1'000'001);
    for (std::uint64_t i = 0; i < 40; ++i)
        thread.call(100 + i * 1000, 0, 100);
    thread.enter(999'951, 0);
    const score::Report report = analyze(recording);
    const score::FunctionRow& a = row(report, "a");
    CHECK(a.open_ns == 0);
    CHECK_FALSE(a.lower_bound);
}

TEST_CASE("a function that is asked for is looked into, whatever it scores") {
    Recording recording{2};
    ThreadRecording& thread = recording.thread(1000, 101'000);
    for (std::uint64_t i = 0; i < 100; ++i)
        thread.call(1000 + 1000 * i, kA, 10 + 20 * (i % 2)).call(1500 + 1000 * i, kB, 10 + 20 * (i % 2));
    const auto sampled = [&](const score::Settings& settings, const char* name) {
        const score::Report report = analyze(recording, settings, 1000, 64);
        CHECK(row(report, name).rdam < report.threshold);
        return !row(report, name).sample.calls.empty();
    };
    CHECK(!sampled({}, "a"));
    CHECK(!sampled({}, "b"));
    CHECK(sampled({.selection = {.functions = {"a"}}}, "a"));
    CHECK(sampled({.selection = {.functions = {"*"}}}, "b"));
    CHECK(sampled({.largest_sampled = 2}, "b"));
}

TEST_CASE("a thread of which too little was seen neither lost time nor did not") {
    score::FunctionRow row;
    row.threads.resize(2);
    row.threads[0].lost_ns = 5;
    CHECK(output::affected_threads(row) == "1/2");
    row.threads[1].few_windows = true;
    CHECK(output::affected_threads(row) == "1–2/2");
    row.threads[0].lost_ns = 0;
    CHECK(output::affected_threads(row) == "0–1/2");
    row.threads[0].no_score = true;
    CHECK(output::affected_threads(row) == "-/2");
    row = {};
    row.threads.resize(3);
    row.few_windows = true;
    CHECK(output::affected_threads(row) == "-/3");
}

}  // namespace rdam::test
