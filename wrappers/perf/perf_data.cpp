#include "wrappers/perf/perf_data.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "tools/base/child_process.h"
#include "tools/base/files.h"
#include "tools/base/name_text.h"

namespace rdam {
namespace {

/// perf's complaint as one line: its lines "Error:" and "# …" say nothing.
std::string complaint(const ChildOutput& output) {
    std::string all = output.err;
    std::ranges::replace(all, '\n', ' ');
    constexpr std::string_view kError = "Error:";
    auto text = trim_blanks(all);
    if (text.substr(0, kError.size()) == kError) text = trim_blanks(text.substr(kError.size()));
    constexpr std::size_t kEnough = 200;
    return text.empty() ? fmt::format("exit code {}", output.exit_code)
                        : std::string(text.substr(0, kEnough));
}

/// perf refuses to print what was not recorded, such as the period if each sample represents the same number.
bool lacks_period(const ChildOutput& output) {
    return output.exit_code != 0 && output.err.find("PERIOD") != std::string::npos;
}

/// A perf that is too old for an option.
bool lacks_option(const ChildOutput& output) {
    return output.exit_code != 0 && output.err.find("unknown option") != std::string::npos;
}

Result<ChildOutput> run_script(const std::string& path, const std::string& fields,
                               const std::vector<std::string>& options,
                               const std::function<void(std::string_view)>& take) {
    std::vector<std::string> command{"perf", "script", "--no-inline", "--show-mmap-events",
                                     "-F",   fields,   "-i",          path};
    command.insert(command.end(), options.begin(), options.end());
    auto output = run_child(command,
                            // The user's own settings may change what is printed; fetching debug information
                            // may hang for minutes.
                            {"PERF_CONFIG=/dev/null", "LC_ALL=C", "DEBUGINFOD_URLS=", "LD_PRELOAD"}, take);
    if (!output)
        return fail("{}: {}; install perf (linux-perf), or give rdam hot the text of perf report --stdio",
                    path, output.error().message);
    return output;
}

}  // namespace

bool is_perf_data(std::string_view first_bytes) {
    const auto magic = first_bytes.substr(0, 8);
    return magic == "PERFILE2" || magic == "2ELIFREP" || magic == "PERFFILE";
}

bool is_perf_recording(const std::string& path) {
    return std::ranges::any_of(std::array{path, path + "/data"}, [](const std::string& file) {
        std::error_code error;
        if (!std::filesystem::is_regular_file(file, error)) return false;
        const auto first = read_beginning(file, 8);
        return first && is_perf_data(*first);
    });
}

std::string no_such_process(std::string_view origin, const PerfSamples& samples, std::string_view process) {
    const std::string seen = samples.processes().seen();
    if (seen.empty()) return fmt::format("{}: has no samples; was anything sampled?", origin);
    return fmt::format("{}: has no sample of a process {}; it has those of {}", origin, process, seen);
}

Result<PerfSamples> read_perf_data(const std::string& path, std::string_view process,
                                   const std::function<void(std::uint64_t samples)>& progress) {
    std::string fields = "comm,pid,tid,event,ip,sym,symoff,dso,period";
    // A demangled name does not tell a function from its overloads and copies.
    std::vector<std::string> options{"--show-task-events", "--no-demangle"};
    PerfSamples samples(process);
    const auto take = [&](std::string_view text) {
        samples.add(text);
        if (progress) progress(samples.samples());
    };
    auto output = run_script(path, fields, options, take);
    if (output && lacks_option(*output)) {
        samples = PerfSamples(process);
        options.clear();
        output = run_script(path, fields, options, take);
    }
    if (output && lacks_period(*output)) {
        samples = PerfSamples(process);
        fields.resize(fields.rfind(','));
        output = run_script(path, fields, options, take);
    }
    if (!output) return tl::unexpected(output.error());
    if (output->exit_code != 0)
        return fail(
            "{}: perf script cannot read it: {}; print the report with the perf that recorded it (perf "
            "report "
            "--stdio) and give rdam hot that text",
            path, complaint(*output));
    if (samples.samples() == 0) return fail("{}", no_such_process(path, samples, process));
    return samples;
}

}  // namespace rdam
