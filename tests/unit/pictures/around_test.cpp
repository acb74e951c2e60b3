// The windows of time around the largest losses.
#include "analyzer/views/around.h"

#include <algorithm>
#include <vector>

#include "analyzer/report/score_trace.h"
#include "tests/unit/analysis/recording_file.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

/// a and its slow calls, by the times at which they begin; b in another thread, c in short calls inside a.
Recording slow_calls(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& slow) {
    Recording recording{3};
    constexpr std::uint64_t kEnd = 3'000'000;
    ThreadRecording& first = recording.thread(1000, kEnd);
    std::uint64_t now = 2000;
    for (const auto& [begin, duration] : slow) {
        for (; now < begin; now += 1000)
            first.call(now, kA, 200);
        first.call(begin, kA, duration);
        now = begin + duration + 100;
    }
    for (; now < kEnd; now += 1000)
        first.call(now, kA, 200);
    ThreadRecording& second = recording.thread(1000, kEnd);
    for (std::uint64_t at = 2000; at < kEnd - 10'000; at += 10'000)
        second.enter(at, kB).call(at + 1000, kC, 7000).leave(at + 9000, kB);
    return recording;
}

score::Report report_of(const trace::TraceReader& reader) {
    auto report = score::score_trace(reader, {.threshold = 0}, {.samples = true});
    if (!report) FAIL(report.error().message);
    return std::move(*report);
}

std::vector<views::Surroundings> around_of(const trace::TraceReader& reader,
                                           const views::Limits& limits = {}) {
    const score::Report report = report_of(reader);
    auto windows = views::surroundings(reader, report, limits);
    if (!windows) FAIL(windows.error().message);
    return std::move(*windows);
}

/// Those of a depth do not overlap, and each lies in the one around it.
bool lane_nests(const views::Lane& lane) {
    for (const views::Slice& slice : lane.slices) {
        if (slice.end < slice.begin) return false;
        for (const views::Slice& other : lane.slices)
            if (&other != &slice && other.depth == slice.depth && other.begin < slice.end &&
                slice.begin < other.end)
                return false;
    }
    return true;
}

}  // namespace

TEST_CASE("the largest losses have windows, the largest first", "[around]") {
    const trace::TraceReader reader =
        reader_of(slow_calls({{500'000, 40'000}, {1'000'000, 90'000}, {2'000'000, 60'000}}));
    const auto windows = around_of(reader);
    REQUIRE(windows.size() >= 3);
    CHECK(windows[0].call_begin == 1'000'000);
    CHECK(windows[1].call_begin == 2'000'000);
    CHECK(windows[2].call_begin == 500'000);
    for (std::size_t i = 0; i < windows.size(); ++i) {
        CHECK((i == 0 || windows[i].lost_ns <= windows[i - 1].lost_ns));
        CHECK(windows[i].begin < windows[i].call_begin);
        CHECK(windows[i].end > windows[i].call_end);
        CHECK_FALSE(windows[i].shortened);
    }
    const views::Surroundings& first = windows[0];
    CHECK(first.lost_ns == 89'800);
    CHECK(first.duration_ns == 90'000);
    CHECK(first.begin == 1'000'000 - 22'501);
    CHECK(first.end == 1'090'000 + 22'501);
    REQUIRE(first.lanes.size() == 2);
    CHECK(first.lanes[0].thread == first.thread);
    const auto marked = std::ranges::count_if(first.lanes[0].slices, &views::Slice::marked);
    CHECK(marked == 1);
    for (const views::Slice& slice : first.lanes[0].slices)
        if (slice.marked) CHECK((slice.begin == 1'000'000 && slice.end == 1'090'000 && slice.calls == 1));
    for (const views::Lane& lane : first.lanes)
        CHECK(lane_nests(lane));
    // The other thread has b in ten thousands, and c inside.
    std::size_t inside = 0;
    for (const views::Slice& slice : first.lanes[1].slices) {
        CHECK_FALSE(slice.marked);
        CHECK(slice.function == (slice.depth == 0 ? kB : kC));
        inside += slice.depth;
    }
    CHECK(inside >= 12);
}

TEST_CASE("no function has more windows than its part, nor have all together", "[around]") {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> slow;
    for (std::uint64_t i = 1; i < 20; ++i)
        slow.emplace_back(i * 100'000, 20'000 + i * 100);
    const trace::TraceReader reader = reader_of(slow_calls(slow));
    const score::Report report = report_of(reader);
    for (const std::size_t most : {0UL, 1UL, 4UL}) {
        const auto windows = views::surroundings(reader, report, {.most = most, .of_function = 2});
        REQUIRE(windows);
        CHECK(windows->size() <= most);
        CHECK(std::ranges::count_if(*windows, [&](const views::Surroundings& each) {
                  return report.functions[each.row].name == "a";
              }) == static_cast<std::ptrdiff_t>(std::min(most, std::size_t{2})));
    }
}

TEST_CASE("of many threads those that were longest in calls have lanes", "[around]") {
    Recording recording{2};
    ThreadRecording& first = recording.thread(1000, 3'000'000);
    for (std::uint64_t at = 2000; at < 2'000'000; at += 10'000)
        first.call(at, kA, at == 1'002'000 ? 9000 : 10);
    for (std::uint64_t t = 1; t <= 40; ++t) {
        ThreadRecording& thread = recording.thread(1000, 3'000'000);
        for (std::uint64_t at = 900'000; at < 1'100'000; at += 1000)
            thread.call(at, kB, 10 * t);
    }
    recording.thread(1000, 3'000'000).call(2000, kB, 10);  // nothing in the window
    const trace::TraceReader reader = reader_of(recording);
    const auto windows = around_of(reader, {.lanes = 5});
    const auto found = std::ranges::find(windows, 1'002'000U, &views::Surroundings::call_begin);
    REQUIRE(found != windows.end());
    REQUIRE(found->lanes.size() == 5);
    CHECK(found->left_out == 36);
    std::vector<std::size_t> threads;
    for (const views::Lane& lane : found->lanes)
        threads.push_back(lane.thread);
    CHECK(threads == std::vector<std::size_t>{0, 40, 39, 38, 37});
}

TEST_CASE("a window with too many events begins inside the call", "[around]") {
    Recording recording{2};
    ThreadRecording& thread = recording.thread(1000, 5'000'000);
    thread.enter(10'000, kA).leave(10'100, kA).enter(100'000, kA);
    for (std::uint64_t at = 100'010; at < 2'000'000; at += 100)
        thread.call(at, kB, 50);
    thread.leave(2'000'000, kA).enter(3'000'000, kA);
    for (std::uint64_t at = 3'000'010; at < 4'000'000; at += 100)
        thread.call(at, kB, 50);
    thread.leave(4'500'000, kA);
    const trace::TraceReader reader = reader_of(recording);
    const score::Report report = report_of(reader);
    const auto windows = views::surroundings(reader, report, {.events = 4000});
    REQUIRE(windows);
    bool some = false;
    for (const views::Surroundings& each : *windows) {
        if (each.call_end - each.call_begin < 1'000'000) continue;
        some = true;
        CHECK(each.shortened);
        CHECK(each.begin > each.call_begin);
        CHECK(each.begin < each.call_end);
        // A chunk has 500 events; as many as two reach over the ends.
        CHECK(reader.events_of_part(0, {each.begin, each.end}) <= 4000);
    }
    CHECK((some || windows->empty()));
}

TEST_CASE("short calls of a lane are merged with their neighbours, and none is lost", "[around]") {
    Recording recording{2};
    ThreadRecording& thread = recording.thread(1000, 2'000'000);
    std::uint64_t calls = 0;
    for (std::uint64_t at = 100'000; at < 200'000; at += 20, ++calls)
        thread.call(at, calls % 5 == 0 ? kB : kA, calls % 5 == 0 ? 12 : 5);
    thread.call(210'000, kA, 20'000).enter(240'000, kB);
    const trace::TraceReader reader = reader_of(recording);
    const trace::TimePart part{50'000, 250'000};
    for (const std::size_t columns : {std::size_t{1}, std::size_t{10}, std::size_t{100}, std::size_t{5000}}) {
        const auto lane = views::read_lane(reader, calls::KnownEnds::of(reader.info()), 0, part, columns);
        REQUIRE(lane);
        INFO("columns " << columns);
        CHECK(lane_nests(*lane));
        CHECK(lane->slices.size() <= 2 * columns + 3);
        std::uint64_t all = 0;
        for (const views::Slice& slice : lane->slices)
            all += slice.calls;
        CHECK(all == calls + 2);
        CHECK(lane->slices.back().end == part.end);
        if (columns > 1) CHECK(lane->slices.back().open);
        if (columns == 100) CHECK(lane->slices.front().function == kB);
    }
}

TEST_CASE("a deep stack leaves a lane of bounded depth", "[around]") {
    Recording recording{1};
    ThreadRecording& thread = recording.thread(1000, 2'000'000);
    for (std::uint64_t i = 0; i < 10'000; ++i)
        thread.enter(2000 + i, kA);
    for (std::uint64_t i = 0; i < 10'000; ++i)
        thread.leave(500'000 + i, kA);
    const trace::TraceReader reader = reader_of(recording);
    const auto lane = views::read_lane(reader, calls::KnownEnds::of(reader.info()), 0, {1000, 600'000}, 400);
    REQUIRE(lane);
    CHECK(lane->slices.size() == views::kMaxDepth);
    for (const views::Slice& slice : lane->slices)
        CHECK(slice.depth < views::kMaxDepth);
}

TEST_CASE("times off the processors that reach into the window and are long enough", "[around]") {
    const std::vector<trace::OffCpu> all = {{.out = 10, .in = 90},     {.out = 95, .in = 120},
                                            {.out = 200, .in = 203},   {.out = 300, .in = 310},
                                            {.out = 1050, .in = 2000}, {.out = 1100, .in = 2100}};
    std::vector<std::uint64_t> found;
    for (const trace::OffCpu& each : views::within(all, {100, 1100}, 100))
        found.push_back(each.out);
    CHECK(found == std::vector<std::uint64_t>{95, 300, 1050});
    CHECK(views::within({}, {100, 1100}, 100).empty());
    CHECK(views::within(all, {100, 1100}, 0).size() <= all.size());
}

TEST_CASE("who had the processor of a preempted thread is known from the switches of the others",
          "[around]") {
    Recording recording = slow_calls({{1'000'000, 90'000}, {2'000'000, 80'000}});
    const auto off = [](std::uint64_t out, std::uint64_t in, std::uint16_t cpu, bool preempted) {
        return trace::OffCpu{.out = out, .in = in, .cpu = cpu, .preempted = preempted};
    };
    // It goes on at another processor than that which it lost.
    recording.threads[0]
        .off(off(900'000, 900'100, 3, false))
        .off(off(1'010'000, 1'060'000, 5, true))
        .off(off(1'070'000, 1'080'000, 3, false))
        .off(off(2'010'000, 2'060'000, 3, true));
    recording.threads[1]
        .off(off(800'000, 1'012'000, 3, false))
        .off(off(1'050'000, 1'950'000, 5, false))
        .off(off(2'040'000, 2'900'000, 5, false));
    const trace::TraceReader reader = reader_of(recording);
    const auto windows = around_of(reader);
    const auto meanwhile = [&](std::uint64_t call_begin, std::uint64_t out) {
        const auto window = std::ranges::find(windows, call_begin, &views::Surroundings::call_begin);
        REQUIRE(window != windows.end());
        const views::Lane& lane = window->lanes[0];
        REQUIRE(lane.off.size() == lane.meanwhile.size());
        const auto found = std::ranges::find(lane.off, out, &trace::OffCpu::out);
        REQUIRE(found != lane.off.end());
        return lane.meanwhile[static_cast<std::size_t>(found - lane.off.begin())];
    };
    const views::Meanwhile first = meanwhile(1'000'000, 1'010'000);
    CHECK(first.processor == 3);
    CHECK(first.thread == 1);
    CHECK(first.ticks == 38'000);
    // It waited.
    CHECK(meanwhile(1'000'000, 1'070'000).thread == views::Meanwhile::kNotKnown);
    // The other thread was on another processor.
    const views::Meanwhile second = meanwhile(2'000'000, 2'010'000);
    CHECK(second.processor == 3);
    CHECK(second.thread == views::Meanwhile::kNotKnown);
}

TEST_CASE("what lost most has a sample whatever it scores, if that is asked for", "[around]") {
    const trace::TraceReader reader = reader_of(slow_calls({{500'000, 40'000}, {1'000'000, 90'000}}));
    for (const std::size_t most : {0, 1, 2}) {
        const auto report =
            score::score_trace(reader, {.threshold = 1, .largest_sampled = most}, {.samples = true});
        REQUIRE(report);
        std::size_t sampled = 0;
        for (const score::FunctionRow& row : report->functions)
            if (!row.sample.calls.empty()) ++sampled;
        const bool only_one_lost = row(*report, "c").lost_ns == 0 && row(*report, "b").lost_ns == 0;
        CHECK(sampled == std::min<std::size_t>(most, only_one_lost ? 1 : 2));
        CHECK(row(*report, "a").sample.calls.empty() == (most == 0));
    }
}

TEST_CASE("a function's baseline and loss add up to its time, and each thread has its durations",
          "[around]") {
    const score::Report report = report_of(reader_of(slow_calls({{500'000, 40'000}, {1'000'000, 90'000}})));
    const score::FunctionRow& a = row(report, "a");
    CHECK(a.baseline_ns == 200);
    REQUIRE(a.threads.size() == 1);
    CHECK(a.threads[0].min_ns == 200);
    CHECK(a.threads[0].median_ns == a.median_ns);
    CHECK(a.threads[0].p99_ns == a.p99_ns);
    CHECK(a.threads[0].max_ns == 90'000);
}

}  // namespace rdam::test
