// From what was collected to a trace.
#pragma once

#include <optional>
#include <string>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/chrome/collected.h"

namespace rdam::inputs::chrome {

/// Adds functions, threads, their events and the clock; counts what it finds, for remarks. Takes the calls
/// out of `collected` on the way. The pid of the only process that has calls; nothing: there are several, or
/// no calls.
std::optional<std::string> fill(Collected& collected, TraceBuilder& builder);

}  // namespace rdam::inputs::chrome
