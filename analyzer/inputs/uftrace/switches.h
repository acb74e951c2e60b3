// The scheduler's events, `perf-cpu*.dat`: records of perf_event_open(2), each file those of a processor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/inputs/uftrace/folder.h"
#include "tools/base/result.h"
#include "tools/trace/event.h"

namespace rdam::inputs::uftrace {

/// A thread leaves a processor, or comes to it.
struct Switch {
    std::uint64_t time = 0;
    std::uint16_t processor = trace::kNoCpu;
    bool out = false;
    bool preempted = false;  ///< if `out`: it could have gone on
};

/// What the scheduler says of a thread.
struct Schedule {
    std::vector<Switch> switches;  ///< in the order of time
    std::optional<std::uint64_t> began;
    std::optional<std::uint64_t> ended;
    std::string name;  ///< the last; empty: not told
};

struct Schedules {
    std::unordered_map<std::uint32_t, Schedule> by_tid;
    std::uint64_t lost = 0;      ///< records for which the kernel had no room
    std::uint64_t unpaired = 0;  ///< a thread left a processor twice, or came to one twice
};

std::string switches_file(std::uint32_t processor);

/// Errors: a file that ends within a record, or has something else.
Result<Schedules> read_schedules(const Folder& folder);

/// The times between an out and the next in.
std::vector<trace::OffCpu> absences(const std::vector<Switch>& switches);

}  // namespace rdam::inputs::uftrace
