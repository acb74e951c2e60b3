// How a trace describes the program's own regions.
#pragma once

#include "analyzer/trace/event.h"
#include "libprobe/format/shared.h"

namespace rdam::agent {

/// The region as a function of the module kRegionModule with its values as parameters. Any bytes are taken.
trace::FunctionInfo describe_region(const shm::Region& region);

}  // namespace rdam::agent
