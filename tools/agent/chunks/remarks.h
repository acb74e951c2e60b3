// What a trace says of the recording as a whole, once that is over.
#pragma once

#include <cstdint>
#include <string>

#include "libprobe/format/shared.h"
#include "tools/trace/event.h"

namespace rdam::agent {

/// Adds to `info` what was lost and why. `damaged`: in how many places the process's memory made no sense so
/// far.
void add_remarks(const shm::Control& control, std::uint64_t damaged, trace::TraceInfo& info);

/// Why events were dropped, and the remedy. `error`: an errno, for which the machine gave no more buffers; 0:
/// it gave what it was asked.
std::string why_dropped(std::uint32_t error);

}  // namespace rdam::agent
