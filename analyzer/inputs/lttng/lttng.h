// CTF traces of LTTng: their folders, through the command babeltrace2, and the text that it prints.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/inputs/build/trace_builder.h"
#include "tools/base/result.h"
#include "tools/trace/reader.h"

namespace rdam::inputs::lttng {

/// Whether a directory has a CTF trace, by its file `metadata`, which may lie some folders below.
bool recognizes_directory(const std::string& path);

/// Whether a text begins like babeltrace2's.
bool recognizes(std::string_view beginning);

/// `path`: a directory, whose text takes some 200 bytes an event in $TMPDIR meanwhile, or a text. Memory: that of
/// probes::read(). Errors: those of the file; babeltrace2 is missing, or cannot read the trace; there is no pair of
/// events that begin and end a call.
Result<trace::TraceReader> read(const std::string& path, const Progress& progress);

}  // namespace rdam::inputs::lttng
