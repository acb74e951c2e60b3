#include "analyzer/output/process_name.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/output/notes.h"

namespace rdam::output {
namespace {

std::string short_command(std::vector<std::string> words) {
    if (!words.empty()) words.front().erase(0, words.front().rfind('/') + 1);
    return command_text(words);
}

}  // namespace

std::string what_it_is(const score::Report& report) {
    const trace::ProcessInfo& process = report.process;
    if (!process.title.empty()) return process.title;
    std::string command = short_command(process.command);
    const auto first = std::ranges::find(report.threads, process.pid, &score::ThreadRow::tid);
    if (first == report.threads.end() || first->name.empty()) return command;
    // The kernel keeps 15 bytes of the program's name; a script goes by its interpreter or its own.
    const std::string& name = first->name;
    const bool own =
        process.executable.find(name) == std::string::npos && command.find(name) == std::string::npos;
    return own ? name + ": " + command : command;
}

}  // namespace rdam::output
