// How a trace describes the program's own regions.
#pragma once

#include "libprobe/format/shared.h"
#include "tools/trace/event.h"

namespace rdam::agent {

/// The region as a function of the module kRegionModule with its values as parameters. Any bytes are taken.
trace::FunctionInfo describe_region(const shm::Region& region);

}  // namespace rdam::agent
