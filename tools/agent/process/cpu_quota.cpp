#include "tools/agent/process/cpu_quota.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <system_error>
#include <thread>

#include "tools/agent/process/proc_text.h"

namespace rdam::agent {
namespace {

std::optional<double> microseconds_in(std::string_view text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return number;
}

/// Checks the group and those around it. A container may see only the last part of the path, at `mount`.
bool any_up_from(std::string group, const std::function<bool(const std::string& folder)>& limited) {
    for (;;) {
        if (limited(group)) return true;
        if (group.empty()) return false;
        group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
    }
}

bool names_cpu(std::string_view controllers) {
    for (;;) {
        const auto comma = controllers.find(',');
        if (controllers.substr(0, comma) == "cpu") return true;
        if (comma == std::string_view::npos) return false;
        controllers.remove_prefix(comma + 1);
    }
}

bool is_limited(std::string_view controllers, const std::string& group, const std::string& mounts,
                unsigned processors) {
    if (controllers.empty())
        return any_up_from(group, [&](const std::string& folder) {
            return is_quota(first_line(mounts + folder + "/cpu.max"), processors) ||
                   is_quota(first_line(mounts + "/unified" + folder + "/cpu.max"), processors);
        });
    if (!names_cpu(controllers)) return false;
    return any_up_from(group, [&](const std::string& folder) {
        for (const std::string& mount : {mounts + "/cpu", mounts + "/cpu,cpuacct"}) {
            const std::string place = mount + folder + "/cpu.cfs_";
            if (is_quota(first_line(place + "quota_us") + " " + first_line(place + "period_us"), processors))
                return true;
        }
        return false;
    });
}

}  // namespace

bool is_quota(std::string_view cpu_max, unsigned processors) {
    const auto blank = cpu_max.find(' ');
    if (blank == std::string_view::npos) return false;
    const auto quota = microseconds_in(cpu_max.substr(0, blank));
    const auto period = microseconds_in(cpu_max.substr(blank + 1));
    return quota && period && *quota > 0 && *quota < *period * processors;
}

bool has_cpu_quota(std::string_view cgroups, const std::string& mounts, unsigned processors) {
    while (!cgroups.empty()) {
        // number:controllers:path; version 2 names no controllers.
        const auto end = std::min(cgroups.find('\n'), cgroups.size());
        const std::string_view line = cgroups.substr(0, end);
        cgroups.remove_prefix(std::min(end + 1, cgroups.size()));
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == std::string_view::npos || second == std::string_view::npos) continue;
        std::string group{line.substr(second + 1)};
        if (group == "/") group.clear();
        if (is_limited(line.substr(first + 1, second - first - 1), group, mounts, processors)) return true;
    }
    return false;
}

bool has_cpu_quota(unsigned pid) {
    return has_cpu_quota(contents("/proc/" + std::to_string(pid) + "/cgroup"), "/sys/fs/cgroup",
                         std::thread::hardware_concurrency());
}

}  // namespace rdam::agent
