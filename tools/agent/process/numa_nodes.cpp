#include "tools/agent/process/numa_nodes.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

namespace rdam::agent {
namespace {

/// All of `text` is a number.
std::optional<std::uint32_t> number_in(std::string_view text) {
    std::uint32_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return number;
}

/// `3` or `0-3`.
bool add_range(std::string_view text, std::vector<std::uint32_t>& to) {
    const auto dash = text.find('-');
    const auto first = number_in(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_in(text.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= trace::kNoCpu) return false;
    for (std::uint32_t cpu = *first; cpu <= *last; ++cpu)
        to.push_back(cpu);
    return true;
}

/// Nothing of a file that is longer than those of sysfs, which are a page at most.
std::string whole(const std::filesystem::path& path) {
    constexpr std::size_t kMax = 4097;
    std::ifstream file(path, std::ios::binary);
    std::string text(kMax, '\0');
    file.read(text.data(), static_cast<std::streamsize>(kMax));
    const auto got = static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0));
    text.resize(got < kMax ? got : 0);
    return text;
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
        const auto number = number_in(std::string_view{name}.substr(kPrefix.size()));
        if (!number) continue;
        auto cpus = parse_cpu_list(whole(entry->path() / "cpulist"));
        if (!cpus.empty()) nodes.push_back({*number, std::move(cpus)});
    }
    std::ranges::sort(nodes, {}, &trace::NodeInfo::number);
    return nodes;
}

}  // namespace rdam::agent
