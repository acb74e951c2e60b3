// From what was collected to a trace.
#pragma once

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/chrome/collected.h"

namespace rdam::inputs::chrome {

/// Adds functions, threads, their events and the clock; counts what it finds, for remarks. Takes the calls
/// out of `collected` on the way.
void fill(Collected& collected, TraceBuilder& builder);

}  // namespace rdam::inputs::chrome
