// Reports of other tools' traces beside those of rdam's own.
#include <string>
#include <utility>
#include <vector>

#include "analyzer/output/text.h"
#include "analyzer/report/compare_reports.h"
#include "analyzer/report/merge_reports.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

score::FunctionRow called(const std::string& name, const std::string& module) {
    score::FunctionRow row;
    row.name = name;
    row.module = module;
    row.rdam = row.rdam_low = row.rdam_high = 0.2;
    row.occurrences = row.outermost = 1000;
    return row;
}

score::Report report_on(std::vector<score::FunctionRow> rows, const std::string& executable = {}) {
    score::Report report;
    report.process.executable = executable;
    report.process.clean_end = true;
    report.duration_ns = report.threads_ns = 1e6;
    report.functions = std::move(rows);
    return report;
}

}  // namespace

TEST_CASE("modules that only one of the recorders names do not keep functions apart", "[diff]") {
    const score::Report own = report_on({called("lock", "libc.so.6")}, "/x/app");
    score::Report other = report_on({called("lock", "")});
    CHECK(score::compare_reports(own, other).size() == 1);
    CHECK(score::compare_reports(other, own).size() == 1);
    other = report_on({called("lock", "/lib/libc.so")});
    CHECK(score::compare_reports(own, other).size() == 2);
    other.process.recorder = "tracer 3";
    const auto rows = score::compare_reports(own, other);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].a == &own.functions[0]);
    CHECK(rows[0].b == &other.functions[0]);
    // Which of two it is, nobody knows.
    other.functions.push_back(called("lock", "libother.so"));
    CHECK(score::compare_reports(own, other).size() == 3);
}

TEST_CASE("a trace without the program's path is one of the same program", "[diff]") {
    const score::FunctionRow f = called("f", "app"), g = called("f", "libg.so");
    const score::Report own = report_on({f}, "/x/app");
    score::Report exported = report_on({f});
    CHECK(score::compare_reports(own, exported).size() == 1);
    // A name that occurs twice needs its module.
    const score::Report both = report_on({f, g}, "/x/app");
    exported = report_on({f, g});
    exported.process.command = {"./app", "3"};
    CHECK(score::compare_reports(both, exported).size() == 2);
}

TEST_CASE("of another tool's trace the table says no cost and no process", "[processes]") {
    score::Report own = report_on({called("f", "app")}, "/x/app"), other = own;
    own.process.pid = 77;
    own.cost.slowdown = other.cost.slowdown = 1.5;
    other.process.recorder = "tracer 3";
    const std::vector<score::Report> reports{own, other};
    const score::OverallReport overall = score::merge_reports(reports);
    const std::vector<std::string> files{"own.bin", "other.json"};
    const std::string text =
        output::processes_text({overall, files, reports, {}, output::SharedFindings{}}, {});
    const auto line_of = [&](const std::string& file) {
        const std::size_t at = text.find(file);
        REQUIRE(at != std::string::npos);
        const std::size_t begin = text.rfind('\n', at) + 1;
        return text.substr(begin, text.find('\n', at) - begin);
    };
    CHECK(line_of("own.bin").find("77") != std::string::npos);
    CHECK(line_of("own.bin").find("1.50 ×") != std::string::npos);
    CHECK(line_of("other.json").find("×") == std::string::npos);
    CHECK(line_of("other.json").find("#2    - ") != std::string::npos);
}

}  // namespace rdam::test
