// Where and when time was lost, of calls that stand for others.
#include <cmath>
#include <map>
#include <random>

#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/catch.h"
#include "tests/unit/rounds.h"

namespace rdam::test {
namespace {

bool close(double a, double b) {
    return std::abs(a - b) <= 1e-6 * std::max(1.0, std::abs(b));
}

score::Report places_of(const Recording& recording) {
    score::Settings settings;
    settings.paths = settings.course = true;
    return analyze(recording, settings);
}

/// The sums that the headers of paths and course promise.
void check_places(const score::Report& report) {
    std::map<std::uint32_t, score::PathNode> paths;
    for (const score::PathNode& node : report.paths.nodes) {
        CHECK(node.lost_ns >= 0);
        CHECK(node.lost_self_ns >= 0);
        paths[node.function].calls += node.calls;
        paths[node.function].lost_ns += node.lost_ns;
        paths[node.function].lost_self_ns += node.lost_self_ns;
    }
    std::map<std::pair<std::size_t, std::uint32_t>, double> course;
    for (const score::CourseCell& cell : report.course.cells) {
        CHECK(cell.lost_ns >= 0);
        course[{cell.thread, cell.function}] += cell.lost_ns;
    }
    for (const score::FunctionRow& row : report.functions) {
        INFO("function " << row.name);
        // Occurrences are a whole number, of each thread.
        CHECK(std::abs(paths[row.function].calls - static_cast<double>(row.occurrences)) <=
              1 + static_cast<double>(row.threads.size()));
        CHECK(close(paths[row.function].lost_ns, row.lost_ns));
        CHECK(close(paths[row.function].lost_self_ns, row.rdam_self * report.threads_ns));
        for (const score::ThreadShare& share : row.threads)
            CHECK(close(course[{share.thread, row.function}], share.lost_ns));
    }
}

/// The calls of `a` have `b` inside, which is recorded in windows; some before that, if it begins late.
Recording in_windows(std::uint64_t since, std::uint64_t seed) {
    constexpr std::uint64_t kEnd = 40'000'000;
    std::mt19937_64 random{seed};
    Recording recording{3};
    recording.info.functions[kB].windowed_since = since;
    for (int t = 0; t < 2; ++t) {
        ThreadRecording& thread = recording.thread(1000, kEnd);
        for (std::uint64_t begin = 100'000; begin < kEnd - 100'000; begin += 1'000'000) {
            if (t == 0) recording.info.windows.push_back({begin, begin + 50'000});
            for (std::uint64_t at = begin; at < begin + 45'000; at += 2000)
                thread.enter(at, kA).call(at + 50, kB, 100 + random() % 300).leave(at + 600, kA);
            const std::uint64_t outside = begin + 100'000;
            thread.enter(outside, kA);
            if (outside < since) thread.call(outside + 10, kB, 100 + random() % 50);
            thread.call(outside + 300, kC, 10 + random() % 10).leave(outside + 500 + random() % 400, kA);
        }
    }
    return recording;
}

}  // namespace

TEST_CASE("paths and course of calls in windows add up to what they stand for", "[places]") {
    for (const std::uint64_t since : {1000UL, 10'000'000UL}) {
        INFO("since " << since);
        const score::Report report = places_of(in_windows(since, since));
        const score::FunctionRow& b = row(report, "b");
        REQUIRE(b.windowed);
        REQUIRE_FALSE(b.few_windows);
        CHECK(b.occurrences > 3 * b.recorded);
        check_places(report);
        // What is recorded in windows is a leaf below a, which has one path, too.
        std::map<std::uint32_t, int> nodes;
        for (std::size_t i = 1; i < report.paths.nodes.size(); ++i) {
            const score::PathNode& node = report.paths.nodes[i];
            ++nodes[node.function];
            CHECK(node.parent == (node.function == kA ? 0 : 1));
        }
        CHECK(nodes == std::map<std::uint32_t, int>{{kA, 1}, {kB, 1}, {kC, 1}});
    }
}

TEST_CASE("calls in too few windows have no loss on any path, at any time", "[places]") {
    Recording recording = in_windows(1000, 3);
    recording.info.windows.resize(3);
    const score::Report report = places_of(recording);
    REQUIRE(row(report, "b").few_windows);
    for (const score::PathNode& node : report.paths.nodes)
        if (node.function == kB) CHECK((node.lost_ns == 0 && node.lost_self_ns == 0));
    for (const score::CourseCell& cell : report.course.cells)
        if (cell.function == kB) CHECK(cell.lost_ns == 0);
    check_places(report);
}

TEST_CASE("paths and course of sampled trees add up to what they stand for", "[places][random]") {
    for (std::uint64_t seed = 1; seed <= rounds(200U); ++seed) {
        std::mt19937_64 random{seed};
        INFO("seed " << seed);
        Recording recording{4};
        for (trace::FunctionInfo& function : recording.info.functions)
            function.most_rate = 5;
        recording.info.clock.step_ticks = random() % 2 * 20;
        for (int t = 0; t < 2; ++t) {
            ThreadRecording& thread = recording.thread(1000, 10'000'000);
            std::uint64_t now = 2000;
            for (int i = 0; i < 60; ++i) {
                const auto f = static_cast<std::uint32_t>(random() % 2);
                if (random() % 4 != 0) thread.tree(static_cast<std::uint8_t>(random() % 6));
                thread.enter(now += 5, f);
                for (std::uint64_t inside = random() % 3; inside > 0; --inside, now += 100)
                    thread.call(now + 5, static_cast<std::uint32_t>(2 + random() % 2), 20 + random() % 60);
                thread.leave(now += 50 + random() % 100, f);
            }
        }
        const score::Report report = places_of(recording);
        CHECK(row(report, "a").sampled);
        check_places(report);
    }
}

TEST_CASE("a sampled call's loss counts for its tree's weight, on its path and in its time", "[places]") {
    Recording recording{2};
    recording.info.functions[kA].most_rate = recording.info.functions[kB].most_rate = 3;
    ThreadRecording& thread = recording.thread(0, 192'000);
    thread.enter(100, kA).call(110, kB, 10).leave(200, kA);
    thread.tree(3).enter(10'100, kA).call(10'110, kB, 40).leave(10'230, kA);
    const score::Report report = places_of(recording);
    REQUIRE(report.paths.nodes.size() == 3);
    CHECK(report.paths.nodes[1].calls == 9);
    CHECK(report.paths.nodes[1].time_ns == 100 + 8 * 130);
    CHECK(report.paths.nodes[1].self_ns == 90 + 8 * 90);
    CHECK(report.paths.nodes[1].lost_ns == 8 * 30);
    CHECK(report.paths.nodes[1].lost_self_ns == 0);
    CHECK(report.paths.nodes[2].lost_self_ns == 8 * 30);
    double lost = 0;
    for (const score::CourseCell& cell : report.course.cells) {
        if (cell.bin == 0) CHECK(cell.lost_ns == 0);
        if (cell.function == kA) lost += cell.lost_ns;
    }
    CHECK(lost == Approx(240));
    check_places(report);
}

}  // namespace rdam::test
