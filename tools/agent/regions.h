// How a trace describes the program's own regions.
#pragma once

#include "analyzer/trace/event.h"
#include "libprobe/format/shared.h"

namespace rdam::agent {

/// What regions have in place of a module.
inline constexpr const char* kRegionModule = "region";

/// The region as a function of the module "region" with its values as parameters. Any bytes are taken.
trace::FunctionInfo describe_region(const shm::Region& region);

}  // namespace rdam::agent
