#include "tools/rdam/analyze/same_recording.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <map>
#include <utility>

#include "tools/rdam/command/terminal.h"

namespace rdam {

std::string recording_of(const trace::TraceInfo& info) {
    if (info.clock.start_unix_ns == 0) return {};
    return fmt::format("{} {} {} {} {}", info.process.pid, info.clock.start_tsc, info.clock.start_unix_ns,
                       info.process.run, info.process.host);
}

void say_if_same(const std::string& file, const trace::TraceInfo& info, const trace::TraceInfo& other) {
    const std::string recording = recording_of(info);
    if (!recording.empty() && recording == recording_of(other)) say(file + ": is compared with itself");
}

std::vector<std::string> each_once(const std::vector<std::string>& files) {
    std::map<std::pair<dev_t, ino_t>, std::string> seen;
    std::vector<std::string> once;
    for (const std::string& file : files) {
        struct stat status = {};
        // Whoever opens it says why.
        const bool is_there = ::stat(file.c_str(), &status) == 0;
        const auto [first, is_first] = seen.emplace(std::pair{status.st_dev, status.st_ino}, file);
        if (!is_there || is_first)
            once.push_back(file);
        else
            say(first->second == file
                    ? file + ": is given more than once; counted once"
                    : fmt::format("{}: is the same file as {}; counted once", file, first->second));
    }
    return once;
}

}  // namespace rdam
