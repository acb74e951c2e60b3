// The slices of a timeline: with a budget or without, they nest, and what they say adds up.
#include "analyzer/export/slices.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "analyzer/report/score_trace.h"
#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/formats/collected.h"
#include "tests/unit/rounds.h"

namespace rdam::test {
namespace {

/// Of each thread of the report, by its number in the trace.
std::map<std::uint32_t, double> lost_of_threads(const score::Report& report) {
    std::map<std::uint32_t, double> lost;
    for (const score::FunctionRow& row : report.functions)
        for (const score::ThreadShare& share : row.threads)
            lost[report.threads[share.thread].number] += share.lost_ns;
    return lost;
}

/// Over all bins: of equal values only the first is there, and the last one goes on to the end.
double sum_of(const std::vector<exports::CounterPoint>& points, double bin_ns, std::size_t bins) {
    double sum = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto bin = [&](std::size_t point) {
            // Times are cut off to whole nanoseconds.
            return std::ceil(static_cast<double>(points[point].at - points[0].at) / bin_ns - 1e-6);
        };
        const auto next = i + 1 < points.size() ? bin(i + 1) : static_cast<double>(bins);
        sum += points[i].value * (next - bin(i));
    }
    return sum;
}

/// Each slice comes after those inside it, and begins after the ones around it.
bool nest(const std::vector<exports::Slice>& slices) {
    std::vector<exports::Slice> inner;  // of no slice so far
    for (const exports::Slice& slice : slices) {
        if (slice.end < slice.begin) return false;
        while (!inner.empty() && inner.back().begin > slice.begin) {
            if (inner.back().end > slice.end) return false;
            inner.pop_back();
        }
        if (!inner.empty() && inner.back().end > slice.begin) return false;
        inner.push_back(slice);
    }
    return true;
}

bool equal(const exports::Slice& a, const exports::Slice& b) {
    return a.function == b.function && a.begin == b.begin && a.end == b.end && a.lost == b.lost &&
           a.baseline == b.baseline && a.scored == b.scored && a.weight == b.weight && a.how == b.how;
}
bool equal(const exports::MergedCalls& a, const exports::MergedCalls& b) {
    return a.begin == b.begin && a.end == b.end && a.calls == b.calls && a.lost == b.lost &&
           a.time == b.time && a.function == b.function;
}
bool equal(const exports::CounterPoint& a, const exports::CounterPoint& b) {
    return a.at == b.at && a.value == b.value;
}
template <class List>
bool all_equal(const List& a, const List& b) {
    return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return equal(x, y); });
}
bool same_slices(const CollectedSlices& a, const CollectedSlices& b) {
    return std::ranges::equal(a.threads, b.threads,
                              [](const auto& x, const auto& y) {
                                  return x.number == y.number && x.off == y.off &&
                                         all_equal(x.slices, y.slices) && all_equal(x.merged, y.merged) &&
                                         all_equal(x.lost, y.lost);
                              }) &&
           all_equal(a.all_inside, b.all_inside);
}

/// One after the other, in bins of their own.
bool in_bins(const std::vector<exports::MergedCalls>& all) {
    std::int64_t before = INT64_MIN;
    for (const exports::MergedCalls& each : all) {
        if (each.begin < before || each.end < each.begin || each.calls == 0 || each.time < 0) return false;
        before = each.end;
    }
    return true;
}

/// All that holds whatever the trace, with this budget. What was written.
exports::Written check_slices(const trace::TraceReader& reader, std::uint64_t budget) {
    const views::Visit visit = visit_of(reader);
    const auto report = score::score_trace(reader, {}, {});
    REQUIRE(report);
    const Sliced sliced = slices_of(visit, {.budget = budget, .jobs = 1});
    const CollectedSlices& all = sliced.collected;
    CHECK(all.in_order);
    CHECK(all.begins == 1);
    CHECK(all.ends == 1);
    std::uint64_t calls = 0;
    for (const score::ThreadRow& thread : report->threads)
        calls += thread.calls;
    CHECK(sliced.written.calls + sliced.written.merged == calls);
    CHECK(sliced.written.calls == all.slices());
    CHECK(sliced.written.merged == all.merged_calls());
    if (budget == 0) CHECK(sliced.written.merged == 0);

    std::size_t threads = 0;
    for (const std::uint32_t thread : visit.threads())
        threads += visit.has_events(thread) ? 1 : 0;
    const std::size_t each = budget == 0 ? 2000 : budget / 8 / std::max<std::size_t>(threads, 1);
    const std::size_t bins = std::clamp<std::size_t>(each, 1, 2000);
    const double bin_ns = static_cast<double>(visit.span().end - visit.span().begin) *
                          visit.clock().ns_per_tick / static_cast<double>(bins);
    const std::map<std::uint32_t, double> lost = lost_of_threads(*report);
    std::size_t unequal = 0, crossing = 0;
    for (const CollectedSlices::Thread& thread : all.threads) {
        const double expected = lost.contains(thread.number) ? lost.at(thread.number) : 0;
        const double sum = sum_of(thread.lost, bin_ns, bins);
        if (std::abs(sum - expected) > 1e-6 * std::max(1.0, expected)) ++unequal;
        double shown = 0;
        for (const exports::Slice& slice : thread.slices)
            shown += slice.lost * static_cast<double>(slice.weight);
        for (const exports::MergedCalls& merged : thread.merged)
            shown += merged.lost;
        if (std::abs(shown - expected) > 1e-6 * std::max(1.0, expected)) ++unequal;
        CHECK(thread.merged.size() <= bins);
        if (!in_bins(thread.merged)) ++crossing;
        if (!nest(thread.slices)) ++crossing;
    }
    CHECK(unequal == 0);
    CHECK(crossing == 0);
    CHECK(same_slices(all, slices_of(visit, {.budget = budget, .jobs = 8}).collected));
    return sliced.written;
}

}  // namespace

TEST_CASE("slices of random programs nest and add up, whatever the budget", "[slices][random]") {
    for (std::uint64_t seed = 1; seed <= rounds(24U); ++seed) {
        std::mt19937_64 random{seed};
        INFO("seed " << seed);
        Recording recording = random_recording(
            random, {.functions = 5, .threads = 3, .events = 900, .accidents = seed % 2 == 0});
        recording.info.clock.ticks_per_second = seed % 3 == 0 ? 2.9e9 : 1e9;
        const trace::TraceReader reader = reader_of(recording);
        for (const std::uint64_t budget : {0U, 1U, 20U, 600U, 50'000U})
            check_slices(reader, budget);
    }
}

TEST_CASE("many threads have slices within a budget", "[slices]") {
    constexpr std::uint64_t kThreads = rounds(496U) + 4, kCalls = 60;
    Recording recording{2};
    for (std::uint64_t t = 0; t < kThreads; ++t) {
        ThreadRecording& thread = recording.thread(1000, 200'000);
        for (std::uint64_t i = 0; i < kCalls; ++i)
            thread.enter(2000 + 2000 * i, kA)
                .call(2010 + 2000 * i, kB, 5 + (i + t) % 11)
                .leave(2100 + 2000 * i, kA);
    }
    const trace::TraceReader reader = reader_of(recording);
    CHECK(check_slices(reader, 1).merged > 0);
    const exports::Written written = check_slices(reader, 10'000);
    CHECK(written.calls <= 10'000);
    CHECK(check_slices(reader, 1'000'000).merged == 0);
}

TEST_CASE("a deep stack is kept with the loss at its bottom, and nests", "[slices]") {
    constexpr std::uint64_t kDeep = 10'000;
    Recording recording{3};
    ThreadRecording& thread = recording.thread(1000, 10'000'000);
    std::uint64_t now = 2000;
    for (int round = 0; round < 2; ++round) {
        for (std::uint64_t i = 0; i < kDeep; ++i)
            thread.enter(now++, i % 2 == 0 ? kA : kB);
        thread.call(now, kC, round == 0 ? 10 : 5000);
        now += 6000;
        for (std::uint64_t i = kDeep; i-- > 0;)
            thread.leave(now++, i % 2 == 0 ? kA : kB);
    }
    for (std::uint64_t i = 0; i < kDeep; ++i)
        thread.enter(now, kA);  // all at once, and never left
    const trace::TraceReader reader = reader_of(recording);
    CHECK(check_slices(reader, 0).calls == 3 * kDeep + 2);
    CHECK(check_slices(reader, 50'000).calls >= kDeep + 1);
    check_slices(reader, 100);
}

TEST_CASE("calls that are all equal are merged but for what there is room for", "[slices]") {
    Recording recording{1};
    ThreadRecording& thread = recording.thread(1000, 5'000'000);
    constexpr std::uint64_t kCalls = 4000;
    for (std::uint64_t i = 0; i < kCalls; ++i)
        thread.call(2000 + 1000 * i, kA, i == 0 ? 100 : 300);
    const trace::TraceReader reader = reader_of(recording);
    const exports::Written written = check_slices(reader, 800);
    CHECK(written.calls <= 800);
    CHECK(written.merged >= kCalls - 800);
}

TEST_CASE("a trace that lost nothing is drawn merged", "[slices]") {
    Recording recording{2};
    ThreadRecording& thread = recording.thread(1000, 5'000'000);
    constexpr std::uint64_t kCalls = 4000;
    for (std::uint64_t i = 0; i < kCalls; ++i)
        thread.call(2000 + 1000 * i, i % 3 == 0 ? kA : kB, i % 3 == 0 ? 200 : 50);
    const trace::TraceReader reader = reader_of(recording);
    CHECK(check_slices(reader, 400).calls == 0);
    const Sliced sliced = slices_of(visit_of(reader), {.budget = 400});
    const CollectedSlices::Thread& only = sliced.collected.threads.at(0);
    CHECK(only.lost.empty());
    CHECK(only.merged.size() <= 50);
    double time = 0;
    for (const exports::MergedCalls& merged : only.merged) {
        CHECK(merged.function == kA);
        time += merged.time;
    }
    CHECK(time == Approx(1334 * 200 + 2666 * 50));
}

TEST_CASE("a sampled call's slice says what it stands for, and bins hold all of that", "[slices]") {
    Recording recording{1};
    ThreadRecording& thread = recording.thread(1000, 2'000'000);
    thread.call(2000, kA, 100).tree(4).call(500'000, kA, 130).tree(0).call(1'000'000, kA, 100);
    recording.info.functions[0].most_rate = 4;
    const trace::TraceReader reader = reader_of(recording);
    const Sliced sliced = slices_of(visit_of(reader), {});
    const CollectedSlices::Thread& only = sliced.collected.threads.at(0);
    REQUIRE(only.slices.size() == 3);
    CHECK(only.slices[1].weight == 16);
    CHECK(only.slices[1].lost == 30);
    double most = 0;
    for (const exports::CounterPoint& point : only.lost)
        most = std::max(most, point.value);
    CHECK(most == 16 * 30);
}

TEST_CASE("what ran on the processors is gathered for writers that draw it", "[slices]") {
    Recording recording{1};
    recording.info.switches.state = trace::SwitchInfo::State::recorded;
    recording.thread(1000, 2'000'000).call(1100, kA, 50).off({.out = 1110, .in = 1120, .cpu = 3});
    const trace::TraceReader reader = reader_of(recording);
    const views::Visit visit = visit_of(reader);
    for (const bool draws : {true, false}) {
        CollectedSlices collected;
        collected.with_processors = draws;
        TextSink sink;
        REQUIRE(exports::write_slices(visit, {}, collected, sink));
        CHECK(collected.processors.empty() != draws);
    }
}

TEST_CASE("the number of threads inside calls is that over all threads", "[slices]") {
    Recording recording{2};
    // Ten ticks a bin: half of the first call's bins, both threads in the second half.
    recording.thread(1000, 21'000).enter(1000, kA).call(1200, kB, 100).leave(21'000, kA);
    recording.thread(1000, 21'000).call(11'000, kA, 10'000);
    const trace::TraceReader reader = reader_of(recording);
    const Sliced sliced = slices_of(visit_of(reader), {});
    REQUIRE(sliced.collected.all_inside.size() == 2);
    CHECK(sliced.collected.all_inside[0].value == Approx(1));
    CHECK(sliced.collected.all_inside[1].value == Approx(2));
    CHECK(sliced.collected.all_inside[1].at == 10'000);
}

}  // namespace rdam::test
