#include "tools/rdam/record/run_traces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>

#include "libprobe/format/starter.h"
#include "tools/base/child_process.h"
#include "tools/base/files.h"
#include "tools/base/glob.h"
#include "tools/base/printable.h"
#include "tools/rdam/command/terminal.h"
#include "tools/trace/open_for_writing.h"
#include "tools/trace/reader.h"
#include "tools/trace/trace_name.h"
#include "wrappers/find/function_list.h"

namespace rdam {
namespace {

namespace fs = std::filesystem;

/// A process may end while its files are read: then there is nothing.
std::string read_if_there(const fs::path& path) {
    constexpr std::size_t kMax = std::size_t{1} << 24;
    return read_whole_file(path.string(), kMax).value_or("");
}

/// Quick: there may be thousands of processes, and hardly one is an agent. `proc`: a descriptor of /proc.
bool is_named_as_agent(int proc, const std::string& pid) {
    constexpr std::string_view kAgent = "rdam-agent";  // or `rdam-agent 40%`
    const int fd = openat(proc, (pid + "/comm").c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    std::array<char, kAgent.size()> name{};
    const bool is_one = read(fd, name.data(), name.size()) == static_cast<ssize_t>(name.size()) &&
                        std::string_view{name.data(), name.size()} == kAgent;
    close(fd);
    return is_one;
}

/// The pid of the process that agent `pid` of this run serves; 0: not one of ours.
int target_of_agent(const fs::path& process, const std::string& run) {
    const std::string arguments = read_if_there(process / "cmdline");
    // rdam-agent\0FD\0PID\0 and, of one that the starter has made, its run
    const std::size_t first = arguments.find('\0');
    if (first == std::string::npos || !arguments.substr(0, first).ends_with("rdam-agent")) return 0;
    const std::size_t second = arguments.find('\0', first + 1);
    if (second == std::string::npos) return 0;
    const std::size_t third = arguments.find('\0', second + 1);
    const std::string told = third == std::string::npos ? "" : arguments.c_str() + third + 1;
    if (told.starts_with(agent_process::kRunArgument)) {
        if (told != agent_process::kRunArgument + run) return 0;
    } else {
        const std::string environment = '\0' + read_if_there(process / "environ");
        const std::string variable = std::string{'\0'} + "RDAM_RUN=" + run;
        const std::size_t at = environment.find(variable);
        if (at == std::string::npos) return 0;
        const char next = environment[std::min(at + variable.size(), environment.size() - 1)];
        if (next != '\0' && next != trace::kSecretMark) return 0;
    }
    return std::atoi(arguments.c_str() + second + 1);
}

bool is_number(const std::string& name) {
    return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

/// The last of the pids that a process has, one for each PID namespace that it is in.
int innermost_pid(const fs::path& process) {
    constexpr std::string_view kPids = "\nNSpid:";
    const std::string status = read_if_there(process / "status");
    const std::size_t begin = status.find(kPids);
    if (begin == std::string::npos) return 0;
    const std::size_t end = status.find('\n', begin + 1);
    return std::atoi(status.c_str() + status.find_last_of(" \t", end) + 1);
}

/// The pid by which we know a process that has the number `pid` for its agent, which may be in a PID
/// namespace of its own. 0: there is none.
int pid_here(int pid, const fs::path& agent) {
    std::error_code error;
    const fs::path space = fs::read_symlink(agent / "ns/pid", error);
    if (error || space == fs::read_symlink("/proc/self/ns/pid", error)) return pid;
    for (const auto& entry : fs::directory_iterator("/proc", error)) {
        const std::string name = entry.path().filename().string();
        if (is_number(name) && fs::read_symlink(entry.path() / "ns/pid", error) == space &&
            innermost_pid(entry.path()) == pid)
            return std::atoi(name.c_str());
    }
    return 0;
}

bool is_gone(int pid) {
    const std::string stat = read_if_there("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t name_end = stat.rfind(')');
    return name_end == std::string::npos || stat.compare(name_end, 3, ") Z") == 0;
}

/// What an agent that writes the rest says of itself (tools/agent/record_loop.cpp); 0: nothing yet.
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

/// What may be a trace of a run with this output.
std::vector<std::string> matching_files(const std::string& output) {
    const fs::path wanted(output);
    const std::string exact = as_glob(wanted.filename().string());
    const std::string beside = as_glob(wanted.stem().string()) + ".*" + wanted.extension().string();
    const fs::path directory = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(directory, error)) {
        const std::string name = entry.path().filename().string();
        if (glob_match(exact, name) || glob_match(beside, name))
            files.push_back(wanted.has_parent_path() ? entry.path().string() : name);
    }
    return files;
}

/// In a folder that everybody may write to, anybody can make a trace that names the run.
bool is_of_users(const std::string& path, const std::vector<unsigned>& users) {
    struct stat status {};
    if (!trace::is_in_shared_folder(path)) return true;
    return stat(path.c_str(), &status) == 0 && std::ranges::find(users, status.st_uid) != users.end();
}

}  // namespace

std::vector<LivingProcess> await_agents(const std::string& run) {
    std::vector<LivingProcess> living;
    std::error_code error;
    const int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (const auto& entry : fs::directory_iterator("/proc", error)) {
        const std::string name = entry.path().filename().string();
        if (!is_number(name) || !is_named_as_agent(proc, name)) continue;
        const int target = target_of_agent(entry.path(), run);
        if (target <= 0) continue;
        const int here = pid_here(target, entry.path());
        if (is_gone(here)) {
            await(name);
            continue;
        }
        const fs::path executable = fs::read_symlink("/proc/" + std::to_string(here) + "/exe", error);
        living.push_back({.pid = static_cast<std::uint32_t>(here),
                          .own_pid = static_cast<std::uint32_t>(target),
                          .program = executable.filename().string(),
                          .trace = {}});
    }
    if (proc >= 0) close(proc);
    std::ranges::sort(living, {}, &LivingProcess::pid);
    return living;
}

std::vector<RunTrace> find_traces(const std::string& output, const std::string& run,
                                  const std::vector<unsigned>& users, std::vector<LivingProcess>& living) {
    std::vector<RunTrace> traces;
    for (const std::string& path : matching_files(output)) {
        auto reader = trace::TraceReader::open_as_it_is(path);
        if (!reader || reader->info().process.run != run || !is_of_users(path, users)) continue;
        if (reader->damage().no_index) {
            const auto process =
                std::ranges::find(living, reader->info().process.pid, &LivingProcess::own_pid);
            if (process != living.end()) {
                process->trace = path;
                continue;
            }
            reader = trace::TraceReader::open(path);
            if (!reader) continue;
        }
        RunTrace trace;
        trace.path = path;
        trace.program = fs::path(reader->info().process.executable).filename().string();
        trace.start_ticks = reader->info().process.start_ticks;
        trace.threads = reader->info().threads.size();
        trace.events = reader->events();
        std::error_code error;
        trace.bytes = fs::file_size(path, error);
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

std::set<std::string> find_earlier(const std::string& output) {
    std::set<std::string> earlier;
    for (const std::string& path : matching_files(output)) {
        const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0) continue;
        if (trace::look_at_occupant(fd) == trace::Occupant::trace) earlier.insert(path);
        close(fd);
    }
    return earlier;
}

std::string describe(const std::vector<LivingProcess>& living) {
    constexpr std::size_t kMax = 4;
    std::string text;
    for (const LivingProcess& process : std::span(living).first(std::min(living.size(), kMax)))
        text += fmt::format(
            "rdam: process {}{} is still running{}\n", process.pid,
            process.program.empty() ? "" : " (" + printable(process.program) + ")",
            process.trace.empty()
                ? ": if it calls functions on the list, those calls will be in a trace of its own"
                : " and being recorded: its calls will be in " + printable(process.trace) + " when it ends");
    if (living.size() > kMax)
        text += fmt::format("rdam: … and so are {} other processes of the run\n", living.size() - kMax);
    return text;
}

}  // namespace rdam
