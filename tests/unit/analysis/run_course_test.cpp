// When the processes of a run lost time.
#include "analyzer/report/run_course.h"

#include <map>
#include <vector>

#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

using score::RunCourse;

constexpr double kBin = 1000;
constexpr double kStart = 1e18;
constexpr double kEnd = kStart + kBin * score::Course::kBins;

/// A process that lives for ten bins and loses `lost` in its bin `bin`, of ten, in the function.
score::Report process(const std::string& function, std::uint32_t bin, double lost,
                      const std::string& by_design = {}) {
    score::Report report;
    score::FunctionRow row{};
    row.function = 7;
    row.name = function;
    row.module = "app";
    row.by_design = by_design;
    report.functions.push_back(row);
    report.course.bin_ns = 10 * kBin / score::Course::kBins;
    // Three quarters in one of its bins, the rest in the next.
    const std::uint32_t own = bin * score::Course::kBins / 10;
    for (const auto& [at, share] : {std::pair{own, 0.75}, std::pair{own + 1, 0.25}})
        report.course.cells.push_back(
            {.thread = 0, .function = 7, .bin = at, .calls = 1, .time_ns = 1, .lost_ns = lost * share});
    return report;
}

double sum(const std::vector<score::RunCourseCell>& cells) {
    double all = 0;
    for (const score::RunCourseCell& cell : cells)
        all += cell.lost_ns;
    return all;
}

TEST_CASE("What a process lost is where the run was then") {
    RunCourse course{kStart, kEnd, 10};
    CHECK(course.bin_ns() == Approx(kBin));
    course.add(process("f", 4, 100), kStart + 20 * kBin);
    course.add(process("g", 0, 50), kStart);
    course.finish();
    REQUIRE(course.rows().size() == 2);
    CHECK(course.others() == 0);
    CHECK(course.rest().empty());
    const score::RunCourseRow& first = course.rows()[0];
    CHECK(first.process == 0);
    CHECK(first.lost_ns == Approx(100));
    CHECK(sum(first.cells) == Approx(100));
    for (const score::RunCourseCell& cell : first.cells) {
        CHECK(cell.bin >= 23);  // its bins do not begin where those of the run do
        CHECK(cell.bin <= 24);
        CHECK(course.functions()[cell.function] == RunCourse::Name{"app", "f"});
    }
    REQUIRE(course.rows()[1].cells.size() == 1);
    CHECK(course.rows()[1].cells[0].bin == 0);
    CHECK(course.functions()[course.rows()[1].cells[0].function].second == "g");
}

TEST_CASE("A loss longer than a bin of the run is divided among them") {
    // One bin of the process is 19.2 of the run.
    RunCourse course{kStart, kStart + score::Course::kBins * kBin, 10};
    score::Report report = process("f", 0, 192);
    report.course.bin_ns = 19.2 * kBin;
    report.course.cells.resize(1);
    report.course.cells[0].lost_ns = 192;
    course.add(report, kStart);
    course.finish();
    const auto& cells = course.rows()[0].cells;
    REQUIRE(cells.size() == 20);
    for (std::size_t i = 0; i < 19; ++i)
        CHECK(cells[i].lost_ns == Approx(10));
    CHECK(cells[19].lost_ns == Approx(2));
}

TEST_CASE("Of many processes those that lost most keep a row, whatever waits by design") {
    constexpr std::size_t kMost = 4;
    RunCourse course{kStart, kEnd, kMost};
    double all = 0;
    for (int i = 0; i < 50; ++i) {
        const double lost = 1 + (i * 37) % 50;
        course.add(process("f", 1, lost), kStart);
        all += lost;
    }
    course.add(process("join", 1, 1e6, "for a thread's end"), kStart);
    course.finish();
    REQUIRE(course.rows().size() == kMost);
    CHECK(course.others() == 47);
    double kept = 0;
    std::size_t last = 0;
    for (const score::RunCourseRow& row : course.rows()) {
        CHECK(row.lost_ns >= 47);
        CHECK(row.process >= last);
        last = row.process;
        kept += row.lost_ns;
    }
    CHECK(kept == Approx(47 + 48 + 49 + 50));
    CHECK(sum(course.rest()) == Approx(all - kept + 1e6));
}

TEST_CASE("Processes before and after what is known of the run are in its first and last bin") {
    RunCourse course{kStart, kEnd, 10};
    course.add(process("f", 0, 10), kStart - 100 * kBin);
    course.add(process("f", 0, 20), kEnd + 100 * kBin);
    course.finish();
    CHECK(sum(course.rows()[0].cells) == Approx(10));
    CHECK(course.rows()[0].cells.front().bin == 0);
    CHECK(sum(course.rows()[1].cells) == Approx(20));
    CHECK(course.rows()[1].cells.back().bin == score::Course::kBins - 1);
}

}  // namespace
}  // namespace rdam::test
