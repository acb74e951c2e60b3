#include "tools/rdam/record/run_traces.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "analyzer/trace/read/reader.h"
#include "tools/rdam/command/progress_line.h"
#include "wrappers/list/function_list.h"
#include "wrappers/list/read_file.h"
#include "wrappers/support/process_end.h"

namespace rdam {
namespace {

namespace fs = std::filesystem;

/// A process may end while its files are read: then there is nothing.
std::string read_if_there(const fs::path& path) {
    constexpr std::size_t kMost = std::size_t{1} << 24;
    return read_whole_file(path.string(), kMost).value_or("");
}

/// The pid of the process that agent `pid` of this run serves; 0: not one of ours.
int target_of_agent(const fs::path& process, const std::string& run) {
    const std::string arguments = read_if_there(process / "cmdline");
    // rdam-agent\0FD\0PID\0
    const std::size_t first = arguments.find('\0');
    if (first == std::string::npos || !arguments.substr(0, first).ends_with("rdam-agent")) return 0;
    const std::size_t second = arguments.find('\0', first + 1);
    if (second == std::string::npos) return 0;
    const std::string environment = '\0' + read_if_there(process / "environ");
    if (environment.find(std::string{'\0'} + "RDAM_RUN=" + run + '\0') == std::string::npos) return 0;
    return std::atoi(arguments.c_str() + second + 1);
}

bool is_gone(int pid) {
    const std::string stat = read_if_there("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t name_end = stat.rfind(')');
    return name_end == std::string::npos || stat.compare(name_end, 3, ") Z") == 0;
}

/// What an agent that writes the rest says of itself (tools/agent/end_progress.h); 0: nothing yet.
std::uint64_t percent_of_agent(const std::string& pid) {
    const std::string name = read_if_there("/proc/" + pid + "/comm");
    const auto blank = name.find(' ');
    return blank == std::string::npos ? 0 : std::strtoull(name.c_str() + blank, nullptr, 10);
}

void await(const std::string& pid) {
    constexpr std::chrono::milliseconds kLook{200};
    const int number = std::atoi(pid.c_str());
    const int fd = static_cast<int>(syscall(SYS_pidfd_open, number, 0));
    ProgressLine progress("writing the trace", 100);
    for (;;) {
        const auto ended = ends_within(fd, kLook);
        if (ended.value_or(false) || (!ended && is_gone(number))) break;
        progress.update(percent_of_agent(pid));
    }
    if (fd >= 0) close(fd);
}

std::string as_glob(const std::string& name) {
    std::string glob;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '%' && i + 1 < name.size()) {
            glob += '*';
            ++i;
        } else {
            glob += name[i];
        }
    }
    return glob;
}

}  // namespace

std::vector<LivingProcess> await_agents(const std::string& run) {
    std::vector<LivingProcess> living;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc", error)) {
        const std::string name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const int target = target_of_agent(entry.path(), run);
        if (target <= 0) continue;
        if (is_gone(target)) {
            await(name);
            continue;
        }
        const fs::path executable = fs::read_symlink("/proc/" + std::to_string(target) + "/exe", error);
        living.push_back({static_cast<std::uint32_t>(target), executable.filename().string()});
    }
    std::ranges::sort(living, {}, &LivingProcess::pid);
    return living;
}

std::vector<RunTrace> find_traces(const std::string& output, const std::string& run) {
    const fs::path wanted(output);
    const std::string exact = as_glob(wanted.filename().string());
    const std::string beside = as_glob(wanted.stem().string()) + ".*" + wanted.extension().string();
    const fs::path directory = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
    std::vector<RunTrace> traces;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory, error)) {
        const std::string name = entry.path().filename().string();
        if (!glob_match(exact, name) && !glob_match(beside, name)) continue;
        const auto reader = trace::TraceReader::open(entry.path().string());
        if (!reader || reader->info().process.run != run) continue;
        RunTrace trace;
        trace.path = wanted.has_parent_path() ? entry.path().string() : name;
        trace.pid = reader->info().process.pid;
        trace.program = fs::path(reader->info().process.executable).filename().string();
        trace.threads = reader->info().threads.size();
        trace.functions = reader->info().functions.size();
        trace.events = reader->events();
        trace.bytes = entry.file_size(error);
        trace.unfinished = reader->damage().no_index;
        trace.killed = !reader->info().process.clean_end;
        trace.remarks = reader->info().remarks;
        traces.push_back(std::move(trace));
    }
    std::ranges::sort(traces, [&](const RunTrace& a, const RunTrace& b) {
        const bool a_first = a.path.size() < b.path.size();
        return a.path.size() != b.path.size() ? a_first : a.path < b.path;
    });
    return traces;
}

}  // namespace rdam
