#include "wrappers/perf/processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/base/name_text.h"
#include "tools/base/plural.h"
#include "tools/base/text_lines.h"

namespace rdam {
namespace {

/// The kernel keeps no more of a name.
constexpr std::size_t kLongestName = 15;

struct Ids {
    std::int64_t pid = 0;
    std::int64_t tid = 0;
};

/// "12/34", "12:34"
std::optional<Ids> ids_in(std::string_view text, char between) {
    const auto at = text.find(between);
    if (at == std::string_view::npos) return std::nullopt;
    const auto pid = number_in<std::int64_t>(text.substr(0, at));
    const auto tid = number_in<std::int64_t>(text.substr(at + 1));
    if (!pid || !tid) return std::nullopt;
    return Ids{*pid, *tid};
}

/// The content of the first brackets, which are cut off with all before them.
std::string_view take_bracketed(std::string_view& text) {
    const auto begin = text.find('(');
    const auto end = text.find(')');
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
    const auto content = text.substr(begin + 1, end - begin - 1);
    text.remove_prefix(end + 1);
    return content;
}

}  // namespace

Processes::Processes(std::string_view wanted) : wanted_(wanted) {
    wanted_pid_ = number_in<std::int64_t>(wanted).value_or(-1);
}

void Processes::add_record(std::string_view record) {
    constexpr std::string_view kCommand = "PERF_RECORD_COMM";
    constexpr std::string_view kFork = "PERF_RECORD_FORK";
    if (record.starts_with(kCommand)) {
        const bool exec = record.substr(kCommand.size()).starts_with(" exec");
        const auto begin = record.find(": ");
        const auto end = record.rfind(':');
        if (begin == std::string_view::npos || end <= begin + 1) return;
        const auto ids = ids_in(trim_blanks(record.substr(end + 1)), '/');
        // A thread may have a name of its own.
        if (!ids || ids->pid != ids->tid) return;
        Process& process = processes_[ids->pid];
        process.name = record.substr(begin + 2, end - begin - 2);
        if (exec) {
            process.mappings.clear();
            process.counted = 0;
        }
    } else if (record.starts_with(kFork)) {
        const auto child = ids_in(take_bracketed(record), ':');
        const auto parent = ids_in(take_bracketed(record), ':');
        if (!child || !parent || child->pid == parent->pid) return;
        const auto known = processes_.find(parent->pid);
        if (known == processes_.end()) return;
        const Process copy = known->second;
        processes_[child->pid] = copy;
    }
}

void Processes::add_mapping(std::int64_t pid, const Mapping& mapping) {
    processes_[pid].mappings.push_back(mapping);
}

std::uint64_t Processes::place_in_file(std::int64_t pid, std::uint64_t address) const {
    const auto process = processes_.find(pid);
    if (process == processes_.end()) return address;
    // What was mapped last is there.
    const auto& mappings = process->second.mappings;
    const auto found = std::find_if(mappings.rbegin(), mappings.rend(), [&](const Mapping& mapping) {
        return address >= mapping.begin && address - mapping.begin < mapping.size;
    });
    return found == mappings.rend() ? address : address - found->begin + found->offset;
}

bool Processes::is_wanted(std::string_view command, std::int64_t pid, std::int64_t tid) {
    if (wanted_.empty()) return true;
    Process& process = processes_[pid];
    // Recordings without that record: the first thread has the name of its process.
    if (process.name.empty() && (pid == tid || pid < 0)) process.name = command;
    const std::string& name = process.name.empty() ? std::string(command) : process.name;
    ++samples_[name];
    const std::string_view wanted = std::string_view(wanted_).substr(0, kLongestName);
    const bool is_it =
        wanted_pid_ >= 0 ? pid == wanted_pid_ || tid == wanted_pid_ : name == wanted || command == wanted;
    if (!is_it) return false;
    for (; process.counted < process.mappings.size(); ++process.counted)
        objects_.insert(process.mappings[process.counted].object);
    return true;
}

std::string Processes::seen() const {
    std::vector<std::pair<std::string, std::uint64_t>> all(samples_.begin(), samples_.end());
    std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::string> names;
    for (const auto& [name, samples] : all)
        names.push_back(fmt::format("{} ({})", name, counted(samples, "sample", "samples")));
    return some_names(names);
}

}  // namespace rdam
