// perf.data, against an independent count of its samples, and perf.data that is none.
#include "wrappers/perf/perf_data.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

#include "tests/unit/catch.h"
#include "tests/unit/hot/expected_list.h"
#include "tests/unit/temporary_folder.h"
#include "tools/base/child_process.h"

namespace fs = std::filesystem;
using namespace rdam;

namespace {

std::string output_of(const std::vector<std::string>& command) {
    const auto result = run_child(command, {"PERF_CONFIG=/dev/null", "LC_ALL=C"}, 1U << 28U);
    return result && result->exit_code == 0 ? result->out : std::string();
}

/// Two seconds of dd, which asks the kernel for all it does; false: perf does not work here.
bool record(const fs::path& data) {
    const auto result =
        run_child({"perf", "record", "-g", "-F", "997", "-e", "cpu-clock", "-o", data.string(), "dd",
                   "if=/dev/zero", "of=/dev/null", "bs=4k", "count=1500000"},
                  {}, 1U << 28U);
    if (result && result->exit_code == 0 && fs::exists(data)) return true;
    std::cout << "skipped: perf record does not work here: "
              << (result ? result->err.substr(0, 200) : result.error().message) << '\n';
    return false;
}

bool is_kernel(const std::string& module) {
    return module.rfind("([kernel", 0) == 0;
}

/// Samples by the first named frame outside the kernel, counted line by line in what `perf script` prints: an
/// empty line between samples, in each a line of its period and one "address name (module)" for each frame.
/// `one_sample`: what a sample is worth, %.
std::map<std::string, double> counted(const std::string& script, double& one_sample) {
    std::map<std::string, double> periods;
    double total = 0;
    double period = 0;
    bool open = false;
    bool kernel = false;
    std::istringstream lines(script);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string first, name, module;
        words >> first >> name >> module;
        if (first.empty()) {
            open = false;
        } else if (name.empty()) {
            period = std::stod(first);
            total += period;
            open = true;
            kernel = false;
        } else if (open && is_kernel(module)) {
            kernel = true;
        } else if (open && (name != "[unknown]" || !kernel)) {
            periods[name] += period;
            open = false;
        }
    }
    periods.erase("[unknown]");
    for (auto& [name, sum] : periods)
        sum *= 100 / total;
    // All samples of a clock have the same period.
    if (total > 0) one_sample = 100 * period / total;
    return periods;
}

std::string error_of(const fs::path& input) {
    HotRequest request;
    request.input = input.string();
    const auto report = make_hot_report(request, Catalogue::builtin());
    REQUIRE_FALSE(report.has_value());
    CHECK(report.error().message.find('\n') == std::string::npos);
    return report.error().message;
}

}  // namespace

TEST_CASE(
    "perf.data: the percentages are those of an independent count, the kernel's those of the report's text") {
    const test::TemporaryFolder folder;
    const auto data = folder.path() / "perf.data";
    if (!record(data)) return;
    double one_sample = 0;
    const auto periods =
        counted(output_of({"perf", "script", "--no-inline", "-i", data.string(), "-F", "period,ip,sym,dso"}),
                one_sample);
    // perf script and perf report cut a broken chain at different frames: a sample or two may differ, and a
    // fiftieth of a function's where others have the processors.
    const auto margin = [&](double percent) { return 0.06 + 2.1 * one_sample + percent / 50; };
    const auto list = hot_list_of(data, 2.0);
    REQUIRE_FALSE(list.percent.empty());
    for (const auto& [entry, percent] : list.percent) {
        const auto name = parse_function_list(entry, "")->entries.at(0).name;
        INFO(entry);
        REQUIRE(periods.count(name) == 1);
        CHECK(periods.at(name) == Approx(percent).margin(margin(percent)));
    }
    for (const auto& [name, percent] : periods) {
        const bool listed =
            std::any_of(list.percent.begin(), list.percent.end(), [&, &wanted = name](const auto& entry) {
                return parse_function_list(entry.first, "")->entries.at(0).name == wanted;
            });
        INFO(name << " " << percent);
        CHECK((listed || percent < 2.1 + margin(percent) || name.find("@plt") != std::string::npos));
    }
    const auto text = folder.path() / "report.txt";
    std::ofstream(text) << output_of({"perf", "report", "--stdio", "-g", "graph,0", "-i", data.string()});
    HotRequest request;
    request.input = text.string();
    const auto rows = make_hot_report(request, Catalogue::builtin());
    REQUIRE(rows.has_value());
    request.input = data.string();
    const auto report = make_hot_report(request, Catalogue::builtin());
    REQUIRE(report.has_value());
    CHECK(rows->hot.kernel_percent == Approx(report->hot.kernel_percent).margin(margin(50)));
    CHECK(rows->hot.kernel_credited_percent == 0);
    CHECK(report->hot.kernel_credited_percent > 0);
    for (const auto& name : report->waits)
        CHECK(Catalogue::builtin().find(name)->waits);
    CHECK_FALSE(report->waits.empty());
    for (const auto& note : report->notes)
        CHECK(note.find("files of the program are unknown") == std::string::npos);
}

TEST_CASE("perf.data without call chains is read too") {
    const test::TemporaryFolder folder;
    const auto data = folder.path() / "perf.data";
    const auto result = run_child({"perf", "record", "-F", "997", "-e", "cpu-clock", "-o", data.string(),
                                   "dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=2000"},
                                  {}, 1U << 28U);
    if (!result || result->exit_code != 0) {
        std::cout << "skipped: perf record does not work here\n";
        return;
    }
    HotRequest request;
    request.input = data.string();
    const auto report = make_hot_report(request, Catalogue::builtin());
    REQUIRE(report.has_value());
    CHECK(report->hot.kernel_percent > 0);
    CHECK(report->hot.kernel_credited_percent == 0);
}

TEST_CASE("perf.data through a pipe is read like the file") {
    const test::TemporaryFolder folder;
    const auto data = folder.path() / "perf.data";
    if (!record(data)) return;
    const auto pipe = folder.path() / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    std::thread writer(
        [&] { std::ofstream(pipe, std::ios::binary) << std::ifstream(data, std::ios::binary).rdbuf(); });
    const auto list = hot_list_of(pipe, 2.0);
    writer.join();
    CHECK(difference(hot_list_of(data, 2.0), list, 0.0).empty());
}

TEST_CASE("what only begins like a perf.data is an error of one line") {
    const test::TemporaryFolder folder;
    const auto broken = folder.path() / "perf.data";
    std::ofstream(broken) << "PERFILE2" << std::string(500, '\xff');
    CHECK(error_of(broken).find(broken.string() + ": perf") == 0);
    std::ofstream(broken, std::ios::trunc) << "PERFILE2";
    CHECK(error_of(broken).find(broken.string() + ": perf") == 0);
}

TEST_CASE("without perf the remedy is named") {
    const test::TemporaryFolder folder;
    const auto data = folder.path() / "perf.data";
    std::ofstream(data) << "PERFILE2";
    const std::string path = ::getenv("PATH");
    ::setenv("PATH", "/nowhere", 1);
    const auto message = error_of(data);
    ::setenv("PATH", path.c_str(), 1);
    CHECK(message ==
          data.string() +
              ": perf: cannot be run: No such file or directory; install perf (linux-perf), or give rdam hot "
              "the text of perf report --stdio");
}

TEST_CASE("files that are missing, empty or no report") {
    const test::TemporaryFolder folder;
    CHECK(error_of(folder.path() / "none") ==
          (folder.path() / "none").string() + ": cannot be opened: No such file or directory");
    CHECK(error_of("/dev/null") ==
          "/dev/null: is empty; give rdam hot the output of perf report --stdio, or a perf.data file");
    CHECK(error_of("/proc/self/exe") ==
          "/proc/self/exe: is neither output of perf report --stdio nor a perf.data file");
    CHECK(error_of("/") == "/: cannot be read: Is a directory");
}
