#include "tools/agent/process/process_numbers.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

namespace rdam::agent {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(std::uint32_t pid) {
    return fs::path("/proc") / std::to_string(pid);
}

fs::path folder_of(std::uint32_t pid, std::uint32_t thread) {
    return folder_of(pid) / "task" / std::to_string(thread);
}

/// The names in a folder that are numbers.
std::vector<std::uint32_t> numbers_in(const fs::path& folder) {
    std::vector<std::uint32_t> numbers;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        if (const auto number = std::strtoul(at->path().filename().c_str(), nullptr, 10); number != 0)
            numbers.push_back(static_cast<std::uint32_t>(number));
    return numbers;
}

}  // namespace

std::optional<std::istringstream> status_words(const std::string& status, const std::string& name) {
    const std::size_t at = status.find("\n" + name);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + 1 + name.size();
    return std::istringstream(status.substr(begin, status.find('\n', begin) - begin));
}

std::vector<std::uint32_t> parse_numbers(const std::string& status) {
    std::vector<std::uint32_t> numbers;
    auto words = status_words(status, "NSpid:");
    for (std::uint32_t number = 0; words && *words >> number;)
        numbers.push_back(number);
    return numbers;
}

std::vector<std::uint32_t> numbers_of(std::uint32_t pid) {
    return parse_numbers(contents(folder_of(pid) / "status"));
}

bool shares_pid_namespace(std::uint32_t pid) {
    std::error_code error;
    const fs::path own = fs::read_symlink("/proc/self/ns/pid", error);
    // Where there is no telling it is as it usually is.
    return error || own == fs::read_symlink(folder_of(pid) / "ns/pid", error) || error;
}

std::vector<std::uint32_t> threads_of(std::uint32_t pid) {
    return numbers_in(folder_of(pid) / "task");
}

std::vector<std::uint32_t> all_processes() {
    return numbers_in("/proc");
}

std::vector<std::uint32_t> children_of(std::uint32_t pid) {
    std::vector<std::uint32_t> children;
    for (const std::uint32_t thread : threads_of(pid)) {
        std::istringstream list(contents(folder_of(pid, thread) / "children"));
        for (std::uint32_t child = 0; list >> child;)
            children.push_back(child);
    }
    return children;
}

void ThreadNumbers::look(std::uint32_t started) {
    if (same_) return;
    const std::lock_guard guard(mutex_);
    if (started != started_) find_threads();
    started_ = started;
}

void ThreadNumbers::find_threads() {
    for (const std::uint32_t thread : threads_of(pid_)) {
        const auto numbers = parse_numbers(contents(folder_of(pid_, thread) / "status"));
        if (!numbers.empty()) known_.insert_or_assign(numbers.back(), thread);
    }
}

std::uint32_t ThreadNumbers::here(std::uint32_t own) {
    if (same_) return own;
    const std::lock_guard guard(mutex_);
    if (known_.find(own) == known_.end()) find_threads();
    const auto found = known_.find(own);
    return found == known_.end() ? own : found->second;
}

}  // namespace rdam::agent
