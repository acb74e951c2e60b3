// From an archive to a trace.
#pragma once

#include <string>

#include "analyzer/inputs/build/trace_builder.h"
#include "wrappers/support/result.h"

namespace rdam::inputs::otf2 {

/// Reads the archive twice, several locations at a time. `anchor`: the path of the .otf2 file. The library
/// may crash: see build_apart().
Result<void> assemble(const std::string& anchor, TraceBuilder& builder, const Progress& progress);

}  // namespace rdam::inputs::otf2
