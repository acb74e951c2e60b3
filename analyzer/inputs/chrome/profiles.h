// Profiles in JSON: evented ones for speedscope.app, and the Firefox Profiler's processed profiles, whose
// markers are calls. Their events are given to the reader of Chrome's, as those would be.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/inputs/build/trace_builder.h"
#include "tools/base/result.h"
#include "tools/trace/reader.h"

namespace rdam::inputs::profiles {

/// Whether a file begins like one of these.
bool recognizes(std::string_view beginning);

/// Reads the file twice: what things are called may come behind them. Memory: some 40 bytes a marker, and that
/// of chrome::read(). Errors: those of the file; JSON that is none or is cut; no event in it, but samples.
Result<trace::TraceReader> read(const std::string& path, const Progress& progress);

}  // namespace rdam::inputs::profiles
