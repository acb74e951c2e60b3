// Where and when time was lost: against the definitions, and what adds up whatever the bounds.
#include "analyzer/report/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/analysis/reference_places.h"
#include "tests/unit/catch.h"
#include "tests/unit/rounds.h"

namespace rdam::test {
namespace {

bool near(double a, double b) {
    return std::abs(a - b) <= 1e-6 * std::max(1.0, std::abs(b));
}

struct PlacesCase {
    score::Settings settings;
    ReferenceSettings reference;
};

PlacesCase random_places_case(std::mt19937_64& random, std::size_t functions) {
    PlacesCase out;
    out.settings.paths = out.settings.course = true;
    out.reference.keys.assign(functions, 0);
    out.reference.ignored.assign(functions, false);
    for (std::size_t f = 0; f < functions; ++f) {
        const std::string name(1, static_cast<char>('a' + f));
        if (random() % 3 == 0) {
            out.reference.keys[f] = 1;
            out.settings.given.keys.push_back(name + ":k");
        }
        if (random() % 10 == 0) {
            out.reference.ignored[f] = true;
            out.settings.given.ignore.push_back(name);
        }
    }
    out.settings.sequences.deep_keys = out.reference.deep_keys = random() % 4 == 0;
    out.settings.sequences.fold_loops = out.reference.fold_loops = random() % 4 == 0;
    out.reference.process_baseline = random() % 3 == 0;
    if (out.reference.process_baseline) out.settings.baseline.kind = score::Baseline::Kind::process;
    return out;
}

std::vector<std::uint32_t> path_of(const score::PathTree& tree, std::size_t node) {
    std::vector<std::uint32_t> path;
    for (; node != 0; node = tree.nodes[node].parent) {
        REQUIRE(tree.nodes[node].parent < node);
        path.insert(path.begin(), tree.nodes[node].function);
    }
    return path;
}

void compare_paths(const score::PathTree& tree,
                   const std::map<std::vector<std::uint32_t>, ReferencePath>& expected) {
    REQUIRE(tree.nodes.size() == expected.size() + 1);
    CHECK(tree.left_out == 0);
    CHECK(tree.approximate == 0);
    for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
        const score::PathNode& node = tree.nodes[i];
        const ReferencePath& path = expected.at(path_of(tree, i));
        CHECK(node.calls == path.calls);
        CHECK(near(node.time_ns, path.time));
        CHECK(near(node.self_ns, path.self));
        CHECK(near(node.lost_ns, path.lost));
        CHECK(near(node.lost_self_ns, path.lost_self));
    }
}

void compare_course(const score::Course& course, const std::map<ReferencePlace, ReferenceBin>& expected) {
    std::map<ReferencePlace, ReferenceBin> rest = expected;
    ReferencePlace before;
    for (const score::CourseCell& cell : course.cells) {
        const ReferencePlace place{cell.thread, cell.function, cell.bin};
        INFO("thread " << cell.thread << " function " << cell.function << " bin " << cell.bin);
        CHECK((before < place || &cell == &course.cells.front()));
        before = place;
        const auto found = rest.find(place);
        REQUIRE(found != rest.end());
        CHECK(near(cell.calls, found->second.calls));
        CHECK(near(cell.time_ns, found->second.time));
        CHECK(near(cell.lost_ns, found->second.lost));
        rest.erase(found);
    }
    CHECK(rest.empty());
    CHECK(course.approximate == 0);
}

/// The sums that the headers promise.
void check_sums(const score::Report& report) {
    struct Sums {
        double calls = 0, lost = 0, lost_self = 0;
    };
    std::map<std::uint32_t, Sums> paths;
    for (std::size_t i = 1; i < report.paths.nodes.size(); ++i) {
        const score::PathNode& node = report.paths.nodes[i];
        CHECK(node.lost_ns >= 0);
        CHECK(node.lost_self_ns >= 0);
        Sums& sums = paths[node.function];
        sums.calls += node.calls;
        sums.lost += node.lost_ns;
        sums.lost_self += node.lost_self_ns;
    }
    std::map<std::pair<std::size_t, std::uint32_t>, double> course;
    for (const score::CourseCell& cell : report.course.cells) {
        CHECK(cell.lost_ns >= 0);
        course[{cell.thread, cell.function}] += cell.lost_ns;
    }
    for (const score::FunctionRow& row : report.functions) {
        INFO("function " << row.name);
        CHECK(near(paths[row.function].calls, static_cast<double>(row.occurrences)));
        CHECK(near(paths[row.function].lost, row.lost_ns));
        CHECK(near(paths[row.function].lost_self, row.rdam_self * report.threads_ns));
        for (const score::ThreadShare& share : row.threads)
            CHECK(near(course[{share.thread, row.function}], share.lost_ns));
    }
}

void run_places(std::uint64_t seed, const RandomShape& shape) {
    std::mt19937_64 random{seed};
    const Recording recording = random_recording(random, shape);
    const PlacesCase options = random_places_case(random, shape.functions);
    INFO("seed " << seed);
    const score::Report report = analyze(recording, options.settings, 0);
    check_sums(report);
    compare_paths(report.paths, reference_paths(recording, options.reference));
    std::uint64_t begin = UINT64_MAX, end = 0;
    for (const trace::ThreadInfo& thread : recording.info.threads) {
        begin = std::min(begin, thread.start);
        end = std::max(end, thread.end);
    }
    CHECK(near(report.course.bin_ns * score::Course::kBins, static_cast<double>(end - begin)));
    compare_course(report.course, reference_course(recording, options.reference, begin, end));
}

score::Report analyze_bounded(const Recording& recording, const score::Settings& settings,
                              const std::function<void(score::ResolvedSettings&)>& change) {
    score::ResolvedSettings names = resolved(recording, settings);
    change(names);
    const score::AnalyzedTrace trace = read(recording, names, settings.selection);
    return score::make_report(trace.facts(), names, trace.threads, 0);
}

bool same(const score::PathNode& a, const score::PathNode& b) {
    return a.parent == b.parent && a.function == b.function && a.calls == b.calls && a.time_ns == b.time_ns &&
           a.self_ns == b.self_ns && near(a.lost_ns, b.lost_ns) && near(a.lost_self_ns, b.lost_self_ns);
}

bool same(const score::CourseCell& a, const score::CourseCell& b) {
    return a.thread == b.thread && a.function == b.function && a.bin == b.bin && near(a.calls, b.calls) &&
           near(a.time_ns, b.time_ns) && near(a.lost_ns, b.lost_ns);
}

}  // namespace

TEST_CASE("paths and course of random programs are those of the definitions", "[places][random]") {
    for (std::uint64_t seed = 1; seed <= rounds(3000U); ++seed)
        run_places(seed, {.accidents = seed % 2 == 0});
    for (std::uint64_t seed = 1; seed <= rounds(20U); ++seed)
        run_places(1000000 + seed,
                   {.functions = 6, .threads = 3, .events = 3000, .accidents = seed % 2 == 0});
}

TEST_CASE("paths and course do not depend on how calls get to their groups", "[places][random]") {
    for (std::uint64_t seed = 1; seed <= rounds(300U); ++seed) {
        std::mt19937_64 random{seed};
        INFO("seed " << seed);
        const Recording recording =
            random_recording(random, {.functions = 5, .events = seed % 10 == 0 ? 3000 : 200});
        const score::Settings settings = random_places_case(random, 5).settings;
        const score::Report in_order = analyze(recording, settings, 0);
        for (const std::size_t few_groups : {std::size_t{0}, std::size_t{1 + random() % 20}}) {
            const score::Report batched =
                analyze_bounded(recording, settings, [&](score::ResolvedSettings& resolved) {
                    resolved.few_groups = few_groups;
                    resolved.batch_bytes = 0;
                });
            CHECK(std::ranges::equal(batched.paths.nodes, in_order.paths.nodes,
                                     [](const auto& a, const auto& b) { return same(a, b); }));
            CHECK(std::ranges::equal(batched.course.cells, in_order.course.cells,
                                     [](const auto& a, const auto& b) { return same(a, b); }));
        }
    }
}

TEST_CASE("sums of paths and course hold where there is too little room", "[places][random]") {
    std::uint64_t left_out = 0, approximate = 0, approximate_course = 0;
    for (std::uint64_t seed = 1; seed <= rounds(500U); ++seed) {
        std::mt19937_64 random{seed};
        INFO("seed " << seed);
        const Recording recording = random_recording(random, {.functions = 5, .events = 400});
        const score::Settings settings = random_places_case(random, 5).settings;
        const std::size_t few = seed % 2 == 0 ? 0 : SIZE_MAX;
        const score::Report report =
            analyze_bounded(recording, settings, [&](score::ResolvedSettings& resolved) {
                resolved.few_groups = few;
                resolved.max_paths = 1 + random() % 12;
                resolved.max_path_groups = random() % 12;
                resolved.max_course = 1 + random() % 12;
            });
        check_sums(report);
        left_out += report.paths.left_out;
        approximate += report.paths.approximate;
        approximate_course += report.course.approximate;
    }
    CHECK(left_out > 0);
    CHECK(approximate > 0);
    CHECK(approximate_course > 0);
}

TEST_CASE("a deep recursion is a path of bounded length", "[places]") {
    Recording recording{2};
    ThreadRecording& thread = recording.thread(0, 100'000);
    constexpr std::uint64_t kDeep = 3000;
    std::uint64_t now = 0;
    for (int round = 0; round < 2; ++round) {
        for (std::uint64_t i = 0; i < kDeep; ++i)
            thread.enter(now += 1, i % 2 == 0 ? kA : kB);
        for (std::uint64_t i = kDeep; i-- > 0;)
            thread.leave(now += 1 + static_cast<std::uint64_t>(round), i % 2 == 0 ? kA : kB);
    }
    score::Settings settings;
    settings.paths = true;
    const score::Report report = analyze(recording, settings);
    CHECK(report.paths.nodes.size() > 200);
    CHECK(report.paths.nodes.size() < 300);
    CHECK(report.paths.left_out > kDeep);
    double lost = 0, calls = 0;
    for (const score::PathNode& node : report.paths.nodes) {
        lost += node.lost_self_ns;
        calls += node.calls;
    }
    CHECK(calls == 2.0 * kDeep);
    CHECK(near(lost, (row(report, "a").rdam_self + row(report, "b").rdam_self) * report.threads_ns));
    CHECK(lost > 0);
}

TEST_CASE("the outermost calls of paths are told apart by their callers, if that is asked for", "[places]") {
    Recording recording{2};
    ThreadRecording& thread = recording.thread(0, 1000);
    std::uint64_t time = 0;
    for (const std::uint64_t caller : {0x10, 0x20, 0x10}) {
        thread.enter(time + 10, kA, {}, caller).enter(time + 20, kB, {}, caller + time);
        thread.leave(time + 30, kB).leave(time + 40, kA);
        time += 40;
    }
    score::Settings settings;
    settings.paths = true;
    CHECK(analyze(recording, settings).paths.nodes.size() == 3);
    settings.path_callers = true;
    const score::Report report = analyze(recording, settings);
    REQUIRE(report.paths.nodes.size() == 5);
    std::map<std::uint64_t, double> calls;
    for (const score::PathNode& node : report.paths.nodes)
        if (node.function == kA) calls[node.caller] += node.calls;
    CHECK(calls == std::map<std::uint64_t, double>{{0x10, 2}, {0x20, 1}});
    for (const score::PathNode& node : report.paths.nodes)
        if (node.function == kB) CHECK(node.caller == 0);
    check_sums(report);
}

TEST_CASE("how much of a life is in recorded calls is known between two bounds", "[recorded]") {
    const auto bounds = [](const Recording& recording, const score::Settings& settings = {}) {
        const score::Report report = analyze(recording, settings);
        const score::ThreadRow& thread = report.threads[0];
        return fmt::format("{:.0f} to {:.0f}", 1000 * thread.recorded_low, 1000 * thread.recorded_high);
    };
    Recording recording{2};
    ThreadRecording& thread = recording.thread(0, 1000);
    // Of 900, from the first event on. One in the other for 100, and 100 by itself: in calls for 300.
    thread.enter(100, kA).call(150, kB, 100).leave(300, kA).call(500, kB, 100);
    CHECK(bounds(recording) == "222 to 444");
    // What began before is not known.
    score::Settings since;
    since.selection.since_ns = 120;
    CHECK(bounds(recording, since) == "227 to 1000");
    // A call that is still open has gone on to the end.
    thread.enter(800, kA);
    CHECK(bounds(recording) == "444 to 667");
    // Of 800: for 100 the thread was held, perhaps in that call.
    thread.pause(850, 950);
    CHECK(bounds(recording) == "375 to 750");
}

TEST_CASE("paths and course are empty if they are not asked for", "[places]") {
    Recording recording{1};
    recording.thread(0, 1000).call(10, kA, 5).call(30, kA, 15);
    const score::Report report = analyze(recording);
    CHECK(report.paths.nodes.empty());
    CHECK(report.course.cells.empty());
    CHECK(report.course.bin_ns == 0);
}

TEST_CASE("a loss is spread over the time of its call", "[places]") {
    Recording recording{1};
    recording.thread(0, 19'200).call(50, kA, 10).call(150, kA, 200);
    score::Settings settings;
    settings.course = true;
    const score::Report report = analyze(recording, settings);
    REQUIRE(report.course.bin_ns == 100);
    REQUIRE(report.course.cells.size() == 4);
    CHECK(report.course.cells[0].lost_ns == 0);
    CHECK(near(report.course.cells[1].lost_ns, 190.0 / 4));
    CHECK(near(report.course.cells[2].lost_ns, 190.0 / 2));
    CHECK(near(report.course.cells[3].lost_ns, 190.0 / 4));
}

TEST_CASE("a report on some functions has their paths and course alone", "[places]") {
    Recording recording{3};
    ThreadRecording& thread = recording.thread(0, 10'000);
    thread.enter(10, kA).call(20, kB, 5).call(40, kC, 7).leave(100, kA);
    thread.enter(110, kA).call(120, kB, 25).call(160, kC, 37).leave(300, kA);
    score::Settings settings;
    settings.paths = settings.course = true;
    settings.selection.functions = {"b"};
    const score::Report report = analyze(recording, settings);
    REQUIRE(report.paths.nodes.size() == 3);
    CHECK(report.paths.nodes[1].function == kA);
    CHECK(report.paths.nodes[1].calls == 0);
    CHECK(report.paths.nodes[1].lost_ns == 0);
    CHECK(report.paths.nodes[2].function == kB);
    CHECK(report.paths.nodes[2].parent == 1);
    CHECK(report.paths.nodes[2].lost_ns == 20);
    for (const score::CourseCell& cell : report.course.cells)
        CHECK(cell.function == kB);
    CHECK(!report.course.cells.empty());
}

TEST_CASE("the course of a part of the run covers that part", "[places]") {
    Recording recording{1};
    recording.thread(1000, 11'000).call(1500, kA, 10).call(5200, kA, 20).call(6000, kA, 50);
    score::Settings settings;
    settings.course = true;
    settings.selection.since_ns = 4000;
    settings.selection.until_ns = 8000;
    const score::Report report = analyze(recording, settings);
    CHECK(report.begin == 1000);
    CHECK(report.course.begin_ns == 4000);
    CHECK(near(report.course.bin_ns * score::Course::kBins, 4000));
    double lost = 0;
    for (const score::CourseCell& cell : report.course.cells)
        lost += cell.lost_ns;
    CHECK(near(lost, 30));
}

TEST_CASE("a call outside of the run's time is in the first or the last bin", "[places]") {
    Recording recording{1};
    recording.thread(1000, 2000).call(10, kA, 10).call(1500, kA, 12).call(200'000'000, kA, 500);
    score::Settings settings;
    settings.course = true;
    const score::Report report = analyze(recording, settings);
    REQUIRE(report.course.cells.size() > 2);
    CHECK(report.course.cells.front().bin == 0);
    CHECK(report.course.cells.back().bin == score::Course::kBins - 1);
    CHECK(near(report.course.cells.back().lost_ns, 490));
}

}  // namespace rdam::test
