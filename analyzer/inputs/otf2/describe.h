// Whose run it was, with which clock and threads.
#pragma once

#include <span>
#include <string>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/otf2/definitions.h"

namespace rdam::inputs::otf2 {

/// `anchor`: the path of the .otf2 file.
void describe(const Definitions& definitions, const std::string& anchor, TraceBuilder& builder);

/// In the order of the locations.
void add_threads(const Definitions& definitions, std::span<const Location> locations, TraceBuilder& builder);

}  // namespace rdam::inputs::otf2
