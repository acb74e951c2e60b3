#include "tools/agent/process/perf_refusal.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>

namespace rdam::agent {

std::string who_forbids_perf(std::string_view paranoid) {
    // Up to here the kernel lets anybody observe their own threads outside of it.
    constexpr int kHarmless = 2;
    int level = 0;
    const auto read = std::from_chars(paranoid.data(), paranoid.data() + paranoid.size(), level);
    if (read.ec != std::errc{})
        return fmt::format(
            "forbidden by seccomp or a container's rules, or by kernel.perf_event_paranoid, which must be at "
            "most {}",
            kHarmless);
    if (level <= kHarmless) return "forbidden by seccomp or a container's rules";
    return fmt::format(
        "forbidden by kernel.perf_event_paranoid, which is {} and must be at most {}, or by seccomp or a "
        "container's rules",
        level, kHarmless);
}

std::string who_forbids_perf() {
    std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
    std::string paranoid;
    std::getline(file, paranoid);
    return who_forbids_perf(paranoid);
}

}  // namespace rdam::agent
