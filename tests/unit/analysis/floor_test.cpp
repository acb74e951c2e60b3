// The scores of constant work: docs/analyzer.md, point 15.
#include <algorithm>

#include "analyzer/output/fields.h"
#include "analyzer/output/notes.h"
#include "analyzer/report/ranking.h"
#include "analyzer/statistics/loss.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"
#include "tools/base/units.h"

namespace rdam::test {
namespace {

/// In a life of 1,000 ticks, `a` loses 40 in one of 4 calls, `b` 70 in one of 40, `c` nothing.
Recording recording_with(double error_ticks, double machine_share) {
    Recording recording{3};
    recording.info.clock.step_ticks = 4;
    recording.info.clock.error_ticks = error_ticks;
    recording.info.process.machine_share = machine_share;
    ThreadRecording& thread = recording.thread(1000, 2000);
    std::uint64_t now = 1000;
    const auto call = [&](std::uint32_t function, std::uint64_t duration) {
        thread.call(now, function, duration);
        now += duration;
    };
    for (int i = 0; i < 4; ++i)
        call(kA, i == 1 ? 50 : 10);
    for (int i = 0; i < 40; ++i)
        call(kB, i == 7 ? 80 : 10);
    for (int i = 0; i < 4; ++i)
        call(kC, 10);
    return recording;
}

}  // namespace

TEST_CASE("the floor is the clock's error in each call and the machine's share of their time", "[floor]") {
    trace::TraceInfo info;
    info.clock.error_ticks = 2;
    info.clock.step_ticks = 26;
    info.process.machine_share = 0.01;
    CHECK(score::floor_of(info, {}, 100, 5000, 10000) == Approx((100 * 2 + 0.01 * 5000) / 10000));
    CHECK(score::floor_of(info, {.kind = score::Baseline::Kind::minimum}, 100, 5000, 10000) ==
          Approx((100 * 28 + 0.01 * 5000) / 10000));
    CHECK(score::floor_of(info, {}, 1e9, 5000, 10000) == 1);
    CHECK(score::floor_of(info, {}, 100, 5000, 0) == 0);
    CHECK(score::floor_of({}, {}, 100, 5000, 10000) == 0);
}

TEST_CASE("a function that does not score more than its floor says nothing", "[floor]") {
    const score::Report report = analyze(recording_with(0.5, 0.1));
    const score::FunctionRow& a = row(report, "a");
    const score::FunctionRow& b = row(report, "b");
    CHECK(a.rdam == Approx((40 - 3 * 0.5) / 1000));
    CHECK(b.rdam == Approx((70 - 39 * 0.5) / 1000));
    CHECK(b.rdam_low <= Approx((70 - 79 * 0.5) / 1000));
    CHECK(a.floor == Approx((4 * 0.5 + 0.1 * 80) / 1000));
    CHECK(b.floor == Approx((40 * 0.5 + 0.1 * 470) / 1000));
    CHECK(!score::at_floor(a));
    CHECK(score::at_floor(b));
    CHECK(!score::at_floor(row(report, "c")));
}

TEST_CASE("what is at its floor is not ranked above what is not", "[floor]") {
    const auto ranks = [](const score::Report& report) {
        std::string names;
        for (const score::FunctionRow& row : score::by_rank(report.functions, 0))
            names += row.name;
        return names;
    };
    CHECK(ranks(analyze(recording_with(0, 0))) == "bac");
    const score::Report report = analyze(recording_with(0.5, 0.1));
    CHECK(report.functions[0].name == "b");
    CHECK(score::at_floor(report.functions[0]));
    CHECK(ranks(report) == "abc");
    CHECK(score::by_rank(report.functions, 1).size() == 1);
    CHECK(output::score_mark(row(report, "b")) == "°");
    CHECK(output::score_mark(row(report, "a")) == "≥");  // seen four times
}

TEST_CASE("the machine's share is told where it matters", "[floor]") {
    const auto told = [](double share) {
        const auto all = output::notes(analyze(recording_with(0, share)));
        return std::ranges::any_of(
            all, [](const std::string& note) { return note.starts_with("Interrupts or the host took"); });
    };
    CHECK(!told(0));
    CHECK(!told(0.009));
    CHECK(told(0.018));
}

TEST_CASE("the step of a clock is told where it hides losses") {
    const auto with_step = [](std::uint64_t ns) {
        Recording recording{2};
        recording.info.clock.step_ticks = ns;
        ThreadRecording& thread = recording.thread(1000, 1'001'000);
        for (std::uint64_t i = 0; i < 100; ++i)
            thread.call(1000 + 10'000 * i, kA, 1000 + 200 * (i % 2)).call(5000 + 10'000 * i, kB, 4000);
        return analyze(recording);
    };
    const auto told = [](const score::Report& report) {
        const auto all = output::notes(report);
        return std::ranges::any_of(
            all, [](const std::string& note) { return note.find("The clock moves by") == 0; });
    };
    const score::Report fine = with_step(4), coarse = with_step(200);
    CHECK(!told(fine));
    CHECK(told(coarse));
    CHECK(!row(fine, "a").lower_bound);
    CHECK(row(coarse, "a").coarse_clock);
    CHECK(row(coarse, "a").lower_bound);
    CHECK(output::score_mark(row(coarse, "a")) == "≥");
    CHECK(row(coarse, "a").rdam == 0);
    CHECK(row(coarse, "a").rdam_high >= 100 * 200 / 1e6);
    CHECK(row(fine, "a").rdam <= row(coarse, "a").rdam_high);
    CHECK(!row(coarse, "b").coarse_clock);
}

TEST_CASE("of several reservations the gravest is told", "[floor]") {
    score::Scored row;
    CHECK(output::score_mark(row).empty());
    row.rdam = row.floor = 0.01;
    CHECK(output::score_mark(row) == "°");
    row.lower_bound = true;
    CHECK(output::score_mark(row) == "≥");
    // What rests on a lone fast call is no lower bound.
    row.minimum_alone = true;
    CHECK(output::score_mark(row) == "!");
    row.maybe_recorder = true;
    CHECK(output::score_mark(row) == "?");
}

}  // namespace rdam::test
