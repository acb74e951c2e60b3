#include "tools/agent/process/process_title.h"

#include <time.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace rdam::agent {
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
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    const std::uint64_t now =
        static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
    if (!at_once && now - looked_ns_ < kLookNs) return;
    looked_ns_ = now;
    const std::string seen = title_text(read_cmdline(pid_));
    const auto stat = read_stat(pid_);
    const bool same_program = stat && (stat->stack_start == 0 || stat->stack_start == stack_start_);
    if (!same_program || seen.empty() || seen == command_) return;
    text_ = text_.empty() ? seen : common_title(text_, seen);
}

}  // namespace rdam::agent
