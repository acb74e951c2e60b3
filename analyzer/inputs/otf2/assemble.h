// From an archive to a trace.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/inputs/build/trace_builder.h"
#include "tools/base/result.h"

namespace rdam::inputs::otf2 {

/// How many events of each location tell which parameters the functions have.
enum class Survey : std::uint8_t { sample, whole };

/// Reads several locations at a time. `anchor`: the path of the .otf2 file. The library may crash: see
/// build_apart(). False: the sample did not tell everything; the survey has to be a whole one.
Result<bool> assemble(const std::string& anchor, Survey survey, TraceBuilder& builder,
                      const Progress& progress);

}  // namespace rdam::inputs::otf2
