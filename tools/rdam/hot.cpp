// `rdam hot`: what perf saw, as a list of functions to record.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tools/base/printable.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/command/fresh_file.h"
#include "tools/rdam/command/option_values.h"
#include "tools/rdam/command/terminal.h"
#include "tools/trace/open_for_writing.h"
#include "wrappers/catalogue/catalogue.h"
#include "wrappers/hot/code_shape.h"
#include "wrappers/hot/coverage.h"
#include "wrappers/hot/eztrace_plugin.h"
#include "wrappers/hot/hot_report.h"
#include "wrappers/hot/refused_functions.h"

namespace rdam {
namespace {

struct HotArguments {
    HotRequest request;
    std::string output = "-";
    bool no_waits = false;
    bool overwrite = false;
    bool eztrace = false;
};

Result<void> write_to(std::FILE* file, const std::string& text, const std::string& name) {
    const bool written =
        std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
    if (!written) return fail("{}: cannot be written: {}", name, std::strerror(errno));
    return {};
}

/// A regular file is looked at once more when it is open; a device or a pipe has nothing to lose.
Result<std::FILE*> open_list(const std::string& output, bool overwrite) {
    struct stat status {};
    if (stat(output.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return std::fopen(output.c_str(), "we");
    const auto fd = trace::open_for_writing(output);
    if (!fd) return fail("{}: cannot be written: {}; give another file", output, fd.error().message);
    if (fstat(*fd, &status) != 0 || (status.st_size > 0 && !overwrite) || ftruncate(*fd, 0) != 0) {
        close(*fd);
        return fail("{}: has been created by someone else in the meantime; give another file", output);
    }
    return fdopen(*fd, "w");
}

Result<void> write_list(const std::string& text, const std::string& output, bool overwrite) {
    if (output == "-") return write_to(stdout, text, "standard output");
    const auto opened = open_list(output, overwrite);
    if (!opened) return tl::unexpected(opened.error());
    std::FILE* const file = *opened;
    if (file == nullptr) return fail("{}: cannot be created: {}", output, std::strerror(errno));
    auto written = write_to(file, text, output);
    if (std::fclose(file) != 0 && written)
        written = fail("{}: cannot be written: {}", output, std::strerror(errno));
    return written;
}

std::string marked_line(const HotFunctions& hot) {
    const auto marked = std::ranges::count_if(hot.functions, [](const auto& f) { return !f.leaf.empty(); });
    if (marked == 0) return {};
    const bool one = marked == 1;
    return fmt::format(
        "{} function{} marked ~: recording each call would cost more than {} own code takes, so rdam record "
        "samples {} calls; take a ~ away to have every call",
        marked, one ? " is" : "s are", one ? "its" : "their", one ? "its" : "their");
}

Result<HotReport> read_hot_report(HotRequest& request) {
    ProgressLine progress{"adding up perf's samples", 0};
    request.progress = [&](std::uint64_t samples) { progress.update(samples); };
    auto report = make_hot_report(request, Catalogue::builtin());
    request.progress = {};
    return report;
}

std::string list_text(const HotReport& report) {
    const std::string marks = marked_line(report.hot);
    if (!marks.empty()) fmt::print(stderr, "rdam hot: {}\n", marks);
    return hot_list_text(report);
}

std::string plugin_text(const HotReport& report) {
    const EztracePlugin plugin = eztrace_plugin(report, Catalogue::builtin());
    for (const auto& line : plugin.left_out)
        fmt::print(stderr, "rdam hot: {}\n", printable(line));
    std::vector<std::string> modules{kEztracePluginName};
    if (plugin.text.empty()) modules.clear();
    modules.insert(modules.end(), plugin.modules.begin(), plugin.modules.end());
    if (!modules.empty())
        fmt::print(stderr, "rdam hot: record with eztrace -t \"{}\"\n", fmt::join(modules, " "));
    return plugin.text;
}

Result<int> run_hot(HotRequest request, const HotArguments& arguments) {
    if (arguments.output != "-" && !arguments.overwrite) {
        if (auto unused = check_unused(arguments.output); !unused) return tl::unexpected(unused.error());
    }
    request.waits = !arguments.no_waits;
    auto report = read_hot_report(request);
    if (!report) return tl::unexpected(report.error());
    // EZTrace has ways of its own.
    if (!arguments.eztrace) leave_out_refused(*report, Catalogue::builtin());
    mark_small_leaves(*report, Catalogue::builtin());
    for (const auto& line : left_out_lines(*report, request.options))
        fmt::print(stderr, "rdam hot: {}\n", printable(line));
    if (!arguments.eztrace && !(report->hot.functions.empty() && report->waits.empty()))
        report->coverage = coverage_text(*report, request.options);
    const auto text = arguments.eztrace ? plugin_text(*report) : list_text(*report);
    if (text.empty() && arguments.eztrace && !report->hot.functions.empty())
        return fail("{}: there is no function that EZTrace could wrap; record with rdam record instead",
                    request.input);
    const bool refused = std::ranges::any_of(
        report->hot.left_out, [](const LeftOutLine& line) { return line.why == LeftOut::refused; });
    if (text.empty() && refused)
        return fail("{}: rdam record would skip every function above {} %; name others with rdam record -f",
                    request.input, request.options.min_percent);
    if (text.empty()) {
        const std::string gap = largest_gap(*report, request.options);
        return fail("{}: no function above {} % is left; {}", request.input, request.options.min_percent,
                    gap.empty() ? "lower --min-percent" : "of the samples, " + gap);
    }
    if (auto written = write_list(text, arguments.output, arguments.overwrite); !written)
        return tl::unexpected(written.error());
    if (!report->coverage.empty()) fmt::print(stderr, "rdam hot: {}\n", printable(report->coverage));
    return kExitDone;
}

}  // namespace

Run add_hot(CLI::App& app) {
    auto arguments = std::make_shared<HotArguments>();
    auto& request = arguments->request;
    app.add_option("input", request.input,
                   "perf.data, or the output of perf report --stdio or perf script; - for standard input")
        ->capture_default_str();
    app.add_option("-o,--output", arguments->output, "Write the list to FILE; - for standard output")
        ->option_text("FILE")
        ->capture_default_str();
    app.add_flag(kOverwriteOption, arguments->overwrite, kOverwriteText);
    app.add_option("--min-percent", request.options.min_percent,
                   "Keep functions with more than N % of all samples")
        ->check(number(0, 100))
        ->capture_default_str();
    app.add_option("--module", request.options.module,
                   "Keep only functions of modules that match this name or pattern");
    app.add_option("--process", request.process,
                   "Count only the samples of this process, if several were recorded (perf record -a)")
        ->option_text("NAME|PID");
    app.add_option("--program", request.programs,
                   "Look up waiting functions and code in this program or library if the input does not name "
                   "its files")
        ->option_text("FILE");
    app.add_flag("--no-waits", arguments->no_waits,
                 "Do not add functions that wait (CPU samples do not show them)");
    app.add_flag("--eztrace", arguments->eztrace,
                 "Write a plug-in for EZTrace instead, for eztrace_create_plugin");
    return [arguments] { return run_hot(arguments->request, *arguments); };
}

}  // namespace rdam
