// Names of any length, which a trace cannot hold.
#pragma once

#include <cstdint>

#include "analyzer/trace/event.h"

namespace rdam::inputs {

/// Cuts names and paths to 4 KiB each, and the command to a megabyte. How many it has cut.
std::uint64_t cut_names(trace::TraceInfo& info);

}  // namespace rdam::inputs
