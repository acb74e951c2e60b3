// Real reports of installed programs in the forms that perf report has.
#include <cmath>
#include <filesystem>
#include <map>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/hot/expected_list.h"
#include "wrappers/perf/report_text.h"

namespace fs = std::filesystem;

namespace {

struct Shares {
    double self = 0;
    double children = 0;  // where the report has that column
};

/// The rows of all reports in a folder, by level and name.
using Rows = std::map<std::string, Shares>;

/// What is wrong with a report's rows; empty: nothing.
std::string difference(const Rows& expected, const rdam::PerfReport& report) {
    constexpr double kRounding = 0.011;
    const auto is = [](double one, double other) { return std::abs(one - other) < kRounding; };
    std::string text;
    for (const auto& row : report.rows) {
        const auto name = fmt::format("{} {}", row.level, row.symbol);
        const auto found = expected.find(name);
        if (found == expected.end() || !is(row.self, found->second.self) ||
            (!is(row.children, row.self) && !is(row.children, found->second.children)))
            text += fmt::format("{}: {} %, {} % with callees; ", name, row.self, row.children);
    }
    if (report.rows.size() != expected.size()) text += fmt::format("{} rows", report.rows.size());
    return text;
}

rdam::HotReport report_of(const std::string& file, double min_percent, const std::string& module = {}) {
    rdam::HotRequest request;
    request.input = std::string(TEST_DATA) + "/" + file;
    request.options = {.min_percent = min_percent, .module = module};
    request.waits = false;
    auto report = rdam::make_hot_report(request, rdam::Catalogue::builtin());
    REQUIRE(report.has_value());
    return std::move(*report);
}

}  // namespace

TEST_CASE("every form of a report has the same rows, whatever call chains are printed between them") {
    // sort --parallel=2, and threads that hand a turn to each other: samples that `perf script` printed.
    const std::map<std::string, Rows> expected{
        {"sort",
         {{". __memcmp_evex_movbe", {65.45, 65.45}},
          {". __strcmp_evex", {8.18, 8.18}},
          {"k _copy_to_iter", {6.36, 10.00}},
          {". __errno_location@plt", {1.82, 1.82}}}},
        {"handoff",
         {{"k finish_task_switch.isra.0", {23.26, 23.26}},
          {". outer", {16.28, 16.28}},
          {". pthread_cond_signal@@GLIBC_2.3.2", {4.65, 4.65}}}},
    };
    std::size_t reports = 0;
    for (const auto& [program, rows] : expected) {
        for (const auto& file : fs::directory_iterator(fs::path(TEST_DATA) / "forms" / program)) {
            INFO(file.path());
            const auto text = rdam::without_colours(read_text(file.path()));
            const auto report = rdam::parse_perf_text(text, "report.txt");
            REQUIRE(report.has_value());
            CHECK(difference(rows, *report).empty());
            CHECK(report->event == "cpu-clock");
            ++reports;
        }
    }
    CHECK(reports == 15);
}

TEST_CASE("a report gives the functions by their own time, and says what it leaves out") {
    const auto report = report_of("handoff.txt", 10);
    CHECK(rdam::hot_list_text(report) == "handoff:outer  # 16.3 %\n");
    CHECK(rdam::left_out_lines(report, {.min_percent = 10, .module = {}}) ==
          std::vector<std::string>{
              "left out: [kernel.kallsyms]:finish_task_switch.isra.0 (23.3 %): kernel symbol",
              "left out: [kernel.kallsyms]:_raw_spin_unlock_irqrestore (20.9 %): kernel symbol",
              "left out: 1 address without a name in libstdc++.so.6.0.30 (0.00 %, 72.1 % with callees): "
              "install debug symbols if this is code of the program",
              "left out: 4 functions of at most 10 % each, 11.6 % together",
              "46.5 % of the time is in the kernel and credited to no function: a report in text form does "
              "not say which functions called the kernel; give rdam hot the perf.data file, recorded with "
              "perf record -g"});
}

TEST_CASE("kernel symbols whose time counts for others are one line") {
    auto report = report_of("handoff.txt", 10);
    report.hot.kernel_credited_percent = 1;
    CHECK(rdam::left_out_lines(report, {.min_percent = 10, .module = {}}).front() ==
          "left out: 2 kernel symbols (44.2 %): the time counts for the functions that called them");
}

TEST_CASE("only functions of the modules that were asked for are kept") {
    const auto report = report_of("openssl.txt", 1, "libcrypto*");
    CHECK(rdam::hot_list_text(report) ==
          "libcrypto.so.3:EVP_MD_free  # 2.8 %\nlibcrypto.so.3:OPENSSL_init_crypto  # 2.8 %\n");
    CHECK(rdam::left_out_lines(report, {.min_percent = 1, .module = "libcrypto*"}) ==
          std::vector<std::string>{
              "left out: 2 addresses without a name in libcrypto.so.3 (16.7 %): install debug symbols if "
              "this is code of the program",
              "left out: libc.so.6:cfree@GLIBC_2.2.5 (2.8 %): not in a requested module",
              "left out: 1 address without a name in openssl (2.8 %): install debug symbols if this is code "
              "of the program"});
}
