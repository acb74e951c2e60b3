#include "tools/rdam/analyze/same_recording.h"

#include <fmt/format.h>

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

}  // namespace rdam
