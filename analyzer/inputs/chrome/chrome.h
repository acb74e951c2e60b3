// Chrome's trace events in JSON ("Trace Event Format"), as browsers, Perfetto's tools, many libraries and
// `rdam export --format json` write them. Every byte is taken as hostile.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/inputs/build/trace_builder.h"
#include "tools/base/result.h"
#include "tools/trace/reader.h"

namespace rdam::inputs::chrome {

/// Whether a file begins like one.
bool recognizes(std::string_view beginning);

/// Memory: some 50 bytes a call and 16 an argument, since calls may come in any order. Errors: those of the
/// file; JSON that is none, with its line; no events in it.
Result<trace::TraceReader> read(const std::string& path, const Progress& progress);

}  // namespace rdam::inputs::chrome
