#include "wrappers/perf/perf_data.h"

#include <algorithm>
#include <vector>

#include "wrappers/support/child_process.h"
#include "wrappers/text/name_text.h"

namespace rdam {
namespace {

/// perf's complaint as one line: its lines "Error:" and "# …" say nothing.
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

/// perf refuses to print what was not recorded, such as the period if each sample represents the same number.
bool lacks_period(const ChildOutput& output) {
    return output.exit_code != 0 && output.err.find("PERIOD") != std::string::npos;
}

Result<ChildOutput> run_script(const std::string& path, const std::string& fields,
                               const std::function<void(std::string_view)>& take) {
    auto output = run_child({"perf", "script", "--no-inline", "--show-mmap-events", "-F", fields, "-i", path},
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

Result<PerfSamples> read_perf_data(const std::string& path,
                                   const std::function<void(std::uint64_t samples)>& progress) {
    const std::string fields = "event,ip,sym,symoff,dso";
    PerfSamples samples;
    const auto take = [&](std::string_view text) {
        samples.add(text);
        if (progress) progress(samples.samples());
    };
    auto output = run_script(path, fields + ",period", take);
    if (output && lacks_period(*output)) {
        samples = {};
        output = run_script(path, fields, take);
    }
    if (!output) return tl::unexpected(output.error());
    if (output->exit_code != 0)
        return fail(
            "{}: perf script cannot read it: {}; print the report with the perf that recorded it (perf "
            "report "
            "--stdio) and give rdam hot that text",
            path, complaint(*output));
    if (samples.samples() == 0) return fail("{}: has no samples; was anything sampled?", path);
    return samples;
}

}  // namespace rdam
