// Real reports of installed programs in the forms that perf report has, each against one expected list per
// program.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/hot/expected_list.h"

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> reports_in(const fs::path& folder) {
    std::vector<fs::path> reports;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".txt") reports.push_back(entry.path());
    std::sort(reports.begin(), reports.end());
    return reports;
}

fs::path expected_for(const fs::path& report) {
    auto own = report;
    own.replace_extension(".expected");
    return fs::exists(own) ? own : report.parent_path() / "expected.list";
}

}  // namespace

TEST_CASE("every form of a report gives the same list") {
    // Sums of a hundred numbers that were rounded to 0.01 each.
    constexpr double kTolerance = 0.15;
    std::size_t reports = 0;
    for (const auto& folder : fs::directory_iterator(TEST_DATA)) {
        for (const auto& report : reports_in(folder.path())) {
            const auto expected = parse_expected(read_text(expected_for(report)));
            INFO(report.filename().string() << " of " << folder.path().filename().string());
            REQUIRE_FALSE(expected.percent.empty());
            CHECK(difference(expected, hot_list_of(report, expected.min_percent), kTolerance).empty());
            ++reports;
        }
    }
    CHECK(reports >= 20);
}

TEST_CASE("what was left out is said, with the reason") {
    rdam::HotRequest request;
    request.input = std::string(TEST_DATA) + "/handoff/children-none.txt";
    request.options.min_percent = 10;
    request.waits = false;
    const auto report = rdam::make_hot_report(request, rdam::Catalogue::builtin());
    REQUIRE(report.has_value());
    CHECK(rdam::left_out_lines(*report, request.options) ==
          std::vector<std::string>{"left out: [kernel.kallsyms]:finish_task_switch.isra.0 (23.3 %): kernel "
                                   "symbol; its time counts for the "
                                   "functions that called it",
                                   "left out: [kernel.kallsyms]:_raw_spin_unlock_irqrestore (20.9 %): kernel "
                                   "symbol; its time counts for "
                                   "the functions that called it",
                                   "left out: 1 address without a name in libstdc++.so.6.0.30 (0.00 %, "
                                   "72.1 % with callees): install debug symbols if this is code of the "
                                   "program",
                                   "left out: 12 functions of at most 10 % each, 18.6 % together"});
}

TEST_CASE("without call chains the kernel's time is said to be nobody's") {
    rdam::HotRequest request;
    request.input = std::string(TEST_DATA) + "/xz/threads.txt";
    request.options.min_percent = 0.2;
    request.waits = false;
    const auto report = rdam::make_hot_report(request, rdam::Catalogue::builtin());
    REQUIRE(report.has_value());
    const auto lines = rdam::left_out_lines(*report, request.options);
    REQUIRE(lines.size() >= 2);
    CHECK(lines.back().find(
              "% of the time is in the kernel and credited to no function: the report has no call "
              "chains; record with perf record -g") != std::string::npos);
    CHECK(lines.front().find(" addresses without a name in liblzma.so.5.4.1 (97.") != std::string::npos);
}
