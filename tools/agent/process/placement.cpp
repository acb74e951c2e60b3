#include "tools/agent/process/placement.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tools/agent/process/numa_nodes.h"
#include "tools/base/printable.h"

namespace rdam::agent {
namespace {

std::vector<std::uint32_t> online_processors() {
    std::ifstream file("/sys/devices/system/cpu/online");
    std::string line;
    std::getline(file, line);
    return parse_cpu_list(line);
}

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
        if (const auto left = others(online_processors(), processors_of(program)); !left.empty())
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
