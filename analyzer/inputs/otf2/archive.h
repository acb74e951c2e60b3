// OTF2 archives (Open Trace Format 2), as EZTrace 2, Score-P and `rdam export` write them. Every byte is
// taken as hostile.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/inputs/build/trace_builder.h"
#include "tools/base/result.h"
#include "tools/trace/reader.h"

namespace rdam::inputs::otf2 {

/// Whether a file begins like an anchor file (traces.otf2).
bool recognizes(std::string_view beginning);
/// Whether a directory has one.
bool recognizes_directory(const std::string& path);

/// `path`: an anchor file, or the directory with the only one. Reads in a process of its own, because the
/// library crashes at some malformed archives, and twice, with several threads; memory does not grow with the
/// number of events. Errors: those of the library; that rdam was built without it.
Result<trace::TraceReader> read(const std::string& path, const Progress& progress);

}  // namespace rdam::inputs::otf2

// Builds a trace in a process of its own, for formats that a library reads which crashes at malformed files.

namespace rdam::inputs {

/// Fills the builder. Runs in the child: what it changes in memory is lost. It may start threads; `progress`
/// is for one of them at a time. False: what it has built is of no use.
using Fill = std::function<Result<bool>(TraceBuilder& builder, const Progress& progress)>;

/// Standard error is closed to `fill`. Errors: those of `fill` and of TraceBuilder::finish(); that the child
/// ended before it was done, which is called damage of the trace `name`. If `progress` throws, the child is
/// killed. Nothing: `fill` said false.
Result<std::optional<trace::TraceReader>> build_apart(const std::string& name, Order order, const Fill& fill,
                                                      const Progress& progress);

}  // namespace rdam::inputs
