#include "wrappers/list/perf_data.h"

#include <algorithm>
#include <set>

#include "wrappers/list/child_process.h"
#include "wrappers/list/name_text.h"

namespace rdam {
namespace {

constexpr std::size_t kMaxOutput = 1U << 30U;

// A character that no name holds, so that perf replaces nothing.
const std::string kSeparator = "\x1f";

Result<ChildOutput> run_perf(const std::string& path, const std::vector<std::string>& options,
                             std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "perf");
    arguments.insert(arguments.end(), {"-i", path});
    arguments.insert(arguments.end(), options.begin(), options.end());
    // The user's own settings would change the columns; fetching debug information may hang for minutes.
    return run_child(arguments, {"PERF_CONFIG=/dev/null", "LC_ALL=C", "DEBUGINFOD_URLS=", "LD_PRELOAD"},
                     kMaxOutput);
}

Result<ChildOutput> run_report(const std::string& path, const std::vector<std::string>& options) {
    auto output = run_perf(path, options, {"report", "--stdio"});
    if (!output)
        return fail("{}: {}; install perf (linux-perf), or give rdam hot the text of perf report --stdio",
                    path, output.error().message);
    return output;
}

/// What perf complains about, as one line: its lines "Error:" and "# …" tell nothing.
std::string complaint(const ChildOutput& output) {
    std::string all = output.err;
    std::replace(all.begin(), all.end(), '\n', ' ');
    constexpr std::string_view kError = "Error:";
    auto text = trim_blanks(all);
    if (text.substr(0, kError.size()) == kError) text = trim_blanks(text.substr(kError.size()));
    constexpr std::size_t kEnough = 200;
    return text.empty() ? fmt::format("exit code {}", output.exit_code)
                        : std::string(text.substr(0, kEnough));
}

bool has_rows(const ChildOutput& output) {
    return output.out.find("Symbol") != std::string::npos;
}

bool lacks_chains(const ChildOutput& output) {
    return output.err.find("callchain") != std::string::npos;
}

tl::unexpected<Error> unreadable(const std::string& path, const ChildOutput& output) {
    return fail(
        "{}: perf report cannot read it: {}; print the report with the perf that recorded it and give rdam "
        "hot "
        "that text",
        path, complaint(output));
}

/// "55ed09e8a000-55ed09ea1000 r-xp 00003000 10166279 /usr/bin/pigz"
std::string mapped_file(std::string_view line) {
    line = trim_blanks(line);
    std::string_view fields[4];
    for (auto& field : fields) {
        const auto end = std::min(line.find(' '), line.size());
        field = line.substr(0, end);
        line = trim_blanks(line.substr(end));
    }
    const bool executable =
        fields[0].find('-') != std::string_view::npos && fields[1].size() == 4 && fields[1][2] == 'x';
    const bool file = !line.empty() && line[0] == '/' && line.substr(0, 2) != "//";
    return executable && file ? std::string(line) : std::string();
}

std::vector<std::string> mapped_files(std::string_view text) {
    std::vector<std::string> files;
    std::set<std::string> known;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        auto file = mapped_file(text.substr(0, end));
        if (!file.empty() && known.insert(file).second) files.push_back(std::move(file));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return files;
}

}  // namespace

bool is_perf_data(std::string_view first_bytes) {
    const auto magic = first_bytes.substr(0, 8);
    return magic == "PERFILE2" || magic == "2ELIFREP" || magic == "PERFFILE";
}

Result<PerfData> read_perf_data(const std::string& path) {
    const std::vector<std::string> rows = {"--no-children",  "--no-inline", "-F",
                                           "period,dso,sym", "-t",          kSeparator};
    auto with_chains = rows;
    with_chains.insert(with_chains.end(), {"-g", "folded,0,callee,function,period"});
    auto report = run_report(path, with_chains);
    if (!report) return tl::unexpected(report.error());
    const bool chains = !lacks_chains(*report);
    if (!chains) report = run_report(path, rows);
    if (!report) return tl::unexpected(report.error());
    if (report->exit_code != 0 || !has_rows(*report)) return unreadable(path, *report);

    PerfData data;
    data.rows = std::move(report->out);
    if (chains) {
        auto names =
            run_report(path, {"--children", "--no-inline", "-g", "none", "-s", "dso,sym", "-t", kSeparator});
        if (!names) return tl::unexpected(names.error());
        if (names->exit_code == 0) data.names = std::move(names->out);
    }
    auto maps = run_report(path, {"--mmaps"});
    if (maps && maps->exit_code == 0) data.objects = mapped_files(maps->out);
    return data;
}

std::string perf_script(const std::string& path, const std::vector<std::string>& options) {
    auto output = run_perf(path, options, {"script"});
    return output && output->exit_code == 0 ? std::move(output->out) : std::string();
}

}  // namespace rdam
