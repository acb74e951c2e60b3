#include "tools/agent/process/numa_nodes.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>

#include "tools/agent/process/process_numbers.h"
#include "tools/base/printable.h"
#include "tools/base/text_lines.h"

namespace rdam::agent {

namespace {

/// `3` or `0-3`.
bool add_range(std::string_view text, std::vector<std::uint32_t>& to) {
    const auto dash = text.find('-');
    const auto first = number_in<std::uint32_t>(text.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : number_in<std::uint32_t>(text.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= trace::kNoCpu) return false;
    for (std::uint32_t cpu = *first; cpu <= *last; ++cpu)
        to.push_back(cpu);
    return true;
}

}  // namespace

std::vector<std::uint32_t> parse_cpu_list(std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    std::vector<std::uint32_t> cpus;
    for (bool more = true; more;) {
        const auto comma = text.find(',');
        more = comma != std::string_view::npos;
        if (!add_range(text.substr(0, comma), cpus)) return {};
        if (cpus.size() >= trace::kNoCpu) return {};
        if (more) text.remove_prefix(comma + 1);
    }
    return cpus;
}

std::vector<trace::NodeInfo> read_nodes(const std::string& folder) {
    constexpr std::string_view kPrefix = "node";
    std::vector<trace::NodeInfo> nodes;
    std::error_code error;
    using Walk = std::filesystem::directory_iterator;
    for (Walk entry{folder, error}; !error && entry != Walk{}; entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (!name.starts_with(kPrefix)) continue;
        const auto number = number_in<std::uint32_t>(std::string_view{name}.substr(kPrefix.size()));
        if (!number) continue;
        auto cpus = parse_cpu_list(contents(entry->path() / "cpulist"));
        if (!cpus.empty()) nodes.push_back({*number, std::move(cpus)});
    }
    std::ranges::sort(nodes, {}, &trace::NodeInfo::number);
    return nodes;
}

namespace {

bool bind_to(const std::vector<std::uint32_t>& cpus) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const std::uint32_t cpu : cpus)
        if (cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace

std::vector<std::uint32_t> processors_of(unsigned pid) {
    cpu_set_t set;
    std::vector<std::uint32_t> cpus;
    if (sched_getaffinity(static_cast<pid_t>(pid), sizeof set, &set) != 0) return cpus;
    for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    return cpus;
}

std::vector<std::uint32_t> others(const std::vector<std::uint32_t>& online,
                                  const std::vector<std::uint32_t>& program) {
    std::vector<std::uint32_t> left;
    if (program.empty()) return left;
    std::ranges::copy_if(online, std::back_inserter(left),
                         [&](std::uint32_t cpu) { return std::ranges::find(program, cpu) == program.end(); });
    return left;
}

Result<std::vector<std::uint32_t>> read_agent_cpus(std::string_view text) {
    std::vector<std::uint32_t> cpus;
    if (text.empty()) return cpus;
    cpus = parse_cpu_list(text);
    if (cpus.empty())
        return fail("RDAM_AGENT_CPUS='{}' is not a list of processors like 3 or 0,2-3: nothing is recorded",
                    printable(text));
    return cpus;
}

Result<void> place_agent(const std::vector<std::uint32_t>& wanted, unsigned program) {
    if (wanted.empty()) {
        // A cpuset may forbid it: then nothing can be done.
        if (const auto left =
                others(parse_cpu_list(first_line("/sys/devices/system/cpu/online")), processors_of(program));
            !left.empty())
            bind_to(left);
        return {};
    }
    if (bind_to(wanted)) return {};
    return fail(
        "rdam-agent cannot run on the processors of --agent-cpus ({}) and shares those of the program; give "
        "processors that are online and in the program's cpuset",
        std::strerror(errno));
}

}  // namespace rdam::agent
