#include "tools/agent/process/process_facts.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>
#include <utility>

#include "tools/agent/process/numa_nodes.h"
#include "tools/agent/process/process_numbers.h"

namespace rdam::agent {

std::uint64_t now_ns(clockid_t clock) {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * kSecond + static_cast<std::uint64_t>(time.tv_nsec);
}

namespace {

std::string read_processor_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name"))
            if (const auto colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
    return "unknown processor";
}

/// The kernel interrupts processors to write that file.
const std::string& processor_model() {
    static const std::string model = read_processor_model();
    return model;
}

/// 0 if the kernel does not provide it.
double kernel_rate() {
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.size = sizeof attributes;
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.exclude_kernel = 1;
    const int fd =
        static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (fd < 0) return 0;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* memory = mmap(nullptr, page, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED) return 0;
    const auto& mapping = *static_cast<const perf_event_mmap_page*>(memory);
    double rate = 0;
    if (mapping.cap_user_time != 0 && mapping.time_mult != 0)
        rate = 1e9 * std::ldexp(1.0, mapping.time_shift) / mapping.time_mult;
    munmap(memory, page);
    return rate;
}

}  // namespace

Moment read_moment(clockid_t clock) {
    Moment best{};
    std::uint64_t least = ~std::uint64_t{0};
    for (int i = 0; i < 16; ++i) {
        const std::uint64_t before = __rdtsc();
        const std::uint64_t ns = now_ns(clock);
        const std::uint64_t after = __rdtsc();
        if (after - before < least) {
            least = after - before;
            best = {before + (after - before) / 2, ns};
        }
    }
    return best;
}

std::optional<ProcessStat> read_stat(std::uint32_t pid) {
    const std::string text = first_line("/proc/" + std::to_string(pid) + "/stat");
    // The name, in parentheses, may hold blanks and parentheses itself.
    const auto name_end = text.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream fields(text.substr(name_end + 1));
    ProcessStat stat;
    std::string field;
    for (int number = 3; fields >> field; ++number) {
        if (number == 3) stat.ended = field == "Z" || field == "X";
        if (number == 4) stat.parent = static_cast<std::uint32_t>(std::strtoul(field.c_str(), nullptr, 10));
        if (number == 22) stat.start_ticks = std::strtoull(field.c_str(), nullptr, 10);
        if (number == 28) stat.stack_start = std::strtoull(field.c_str(), nullptr, 10);
    }
    return stat;
}

std::string thread_name(std::uint32_t pid, std::uint32_t tid) {
    return first_line("/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/comm");
}

bool has_variable(std::uint32_t pid, std::string_view begin, std::string_view part) {
    std::ifstream environment("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
    for (std::string variable; std::getline(environment, variable, '\0');)
        if (variable.starts_with(begin) && variable.find(part) != std::string::npos) return true;
    return false;
}

namespace {

bool is_preloaded(std::uint32_t pid) {
    return has_variable(pid, "LD_PRELOAD=", "librdam.so");
}

bool maps_recorder(std::uint32_t pid) {
    constexpr std::string_view kName = "/librdam.so";
    std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
    for (std::string line; std::getline(maps, line);)
        if (line.find(kName) != std::string::npos) return true;
    return false;
}

}  // namespace

bool is_recorded(std::uint32_t pid) {
    return is_preloaded(pid) || maps_recorder(pid);
}

bool is_of_run(std::uint32_t pid, std::string_view run) {
    if (!is_preloaded(pid)) return maps_recorder(pid);
    return run.empty() || has_variable(pid, "RDAM_RUN=", run);
}

bool lacks_preload(std::uint32_t pid) {
    // What is not ours to look at, or has ended, tells nothing.
    const std::ifstream environment("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
    return environment.is_open() && !is_preloaded(pid) && !program_name(pid).empty();
}

std::string program_name(std::uint32_t pid) {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).filename().string();
}

std::string absolute_path(std::uint32_t pid, const std::string& path, std::uint64_t address) {
    if (path.starts_with('/')) return path;
    std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
    for (std::string line; std::getline(maps, line);) {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        int name = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx %*s %*s %*s %*s %n", &begin, &end, &name) < 2 || name == 0)
            continue;
        if (begin <= address && address < end && line[static_cast<std::size_t>(name)] == '/')
            return line.substr(static_cast<std::size_t>(name));
    }
    return path;
}

std::string way_to(std::uint32_t pid, const std::string& path, std::uint64_t address, bool executable) {
    const std::string process = "/proc/" + std::to_string(pid);
    const auto opens = [](const std::string& name) { return access(name.c_str(), R_OK) == 0; };
    for (const std::string_view own : {"/proc/self", "/proc/thread-self"})
        if (path.starts_with(own)) return process + path.substr(own.size());
    if (!path.starts_with('/') || opens(path)) return {};
    if (executable) return process + "/exe";
    // Only with root's rights.
    std::ifstream maps(process + "/maps");
    for (std::string line; std::getline(maps, line);) {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2 && begin <= address && address < end)
            return process + "/map_files/" + line.substr(0, line.find(' '));
    }
    return {};
}

std::string mapped_file(std::uint32_t pid, std::uint64_t begin, std::uint64_t end) {
    std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
    std::string found;
    for (std::string line; std::getline(maps, line);) {
        std::uint64_t first = 0;
        int name = 0;
        if (std::sscanf(line.c_str(), "%lx-%*x %*s %*s %*s %*s %n", &first, &name) < 1 || name == 0) continue;
        if (begin <= first && first < end && line[static_cast<std::size_t>(name)] == '/')
            found = line.substr(static_cast<std::size_t>(name));
    }
    return found;
}

trace::ProcessInfo describe_machine(std::uint32_t pid) {
    trace::ProcessInfo info;
    info.pid = pid;
    if (const auto stat = read_stat(pid)) info.start_ticks = stat->start_ticks;
    info.boot_id = first_line("/proc/sys/kernel/random/boot_id");
    utsname system{};
    uname(&system);
    info.host = system.nodename;
    info.processors = std::thread::hardware_concurrency();
    info.machine = processor_model() + ", " + std::to_string(info.processors) + " processors, " +
                   system.sysname + " " + system.release;
    info.rdam_version = RDAM_VERSION;
    info.nodes = read_nodes();
    return info;
}

TickRate::TickRate(shm::Clock clock)
    : clock_(clock), kernel_rate_(clock == shm::Clock::monotonic ? 1e9 : kernel_rate()) {
    if (clock == shm::Clock::monotonic) {
        tsc_ = now_ns(CLOCK_MONOTONIC);
        unix_ns_ = now_ns(CLOCK_REALTIME);
        return;
    }
    const Moment monotonic = read_moment(CLOCK_MONOTONIC);
    tsc_ = monotonic.tsc;
    monotonic_ns_ = monotonic.ns;
    const Moment wall = read_moment(CLOCK_REALTIME);
    unix_ns_ = wall.ns;
    if (kernel_rate_ > 0)
        unix_ns_ -= static_cast<std::uint64_t>(static_cast<double>(wall.tsc - tsc_) / kernel_rate_ * 1e9);
}

std::uint64_t TickRate::now() const {
    return clock_ == shm::Clock::monotonic ? now_ns(CLOCK_MONOTONIC) : __rdtsc();
}

double TickRate::result() const {
    if (kernel_rate_ > 0) return kernel_rate_;
    const Moment end = read_moment(CLOCK_MONOTONIC);
    return static_cast<double>(end.tsc - tsc_) * 1e9 / static_cast<double>(end.ns - monotonic_ns_);
}

namespace {

constexpr std::uint64_t kLookNs = 1'000'000'000;
/// A command line may be as long as two megabytes.
constexpr std::size_t kLongestTitle = 4096;

std::string read_cmdline(std::uint32_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
    std::string text(kLongestTitle, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

}  // namespace

std::string title_text(std::string cmdline) {
    std::ranges::replace(cmdline, '\0', ' ');
    const auto first = cmdline.find_first_not_of(' ');
    if (first == std::string::npos) return {};
    return cmdline.substr(first, cmdline.find_last_not_of(' ') + 1 - first);
}

std::string common_title(const std::string& one, const std::string& other) {
    const auto [at, there] = std::ranges::mismatch(one, other);
    auto size = static_cast<std::size_t>(std::distance(one.begin(), at));
    const bool whole = (at == one.end() || *at == ' ') && (there == other.end() || *there == ' ');
    if (!whole) size = size == 0 ? 0 : one.find_last_of(' ', size - 1);
    if (size == 0 || size == std::string::npos) return one;
    return title_text(one.substr(0, size));
}

ProcessTitle::ProcessTitle(std::uint32_t pid, const std::vector<std::string>& command) : pid_(pid) {
    for (const std::string& word : command)
        command_ += word + '\0';
    command_ = title_text(command_.substr(0, kLongestTitle));
    if (const auto stat = read_stat(pid)) stack_start_ = stat->stack_start;
}

void ProcessTitle::look(bool at_once) {
    const std::uint64_t now = now_ns(CLOCK_MONOTONIC);
    if (!at_once && now - looked_ns_ < kLookNs) return;
    looked_ns_ = now;
    const std::string seen = title_text(read_cmdline(pid_));
    const auto stat = read_stat(pid_);
    const bool same_program = stat && (stat->stack_start == 0 || stat->stack_start == stack_start_);
    if (!same_program || seen.empty() || seen == command_) return;
    text_ = text_.empty() ? seen : common_title(text_, seen);
}

AgentUsage::AgentUsage(trace::AgentInfo& info, std::function<double()> others)
    : info_(info), others_(std::move(others)), before_(used()) {
    info_.told = true;
    note();
}

double AgentUsage::used() const {
    return static_cast<double>(now_ns(CLOCK_PROCESS_CPUTIME_ID)) * 1e-9 + others_();
}

void AgentUsage::note() {
    info_.cpu_seconds = used();
    if (running_) info_.running_cpu_seconds = info_.cpu_seconds - before_;
}

void AgentUsage::program_ended() {
    note();
    running_ = false;
}

}  // namespace rdam::agent
