// The line that `perf script` prints in front of a sample.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rdam {

/// "comm  12/34 [001]  12.345678:   250000 cpu-clock:u:  frame": all but the event may be missing.
struct SampleHeader {
    std::string_view command;  ///< name of the thread; empty: not printed
    std::int64_t pid = -1;     ///< -1: not printed
    std::int64_t tid = -1;
    double period = 1;
    std::string_view event;
    std::string_view rest;  ///< behind the event
};

/// nullopt: it is no such line.
std::optional<SampleHeader> sample_header(std::string_view line);

}  // namespace rdam
