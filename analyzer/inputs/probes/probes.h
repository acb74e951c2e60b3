// Calls as `perf script`, `trace-cmd report` and ftrace's file "trace" print them: pairs of probes at the
// beginning and the return of functions (uprobe and uretprobe, kprobe and kretprobe), the steps of the tracer
// function_graph, and user markers. Every byte is taken as hostile.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/inputs/build/trace_builder.h"
#include "tools/base/result.h"
#include "tools/trace/reader.h"

namespace rdam::inputs::probes {

/// Whether a text begins like one: with an event of a thread at a time.
bool recognizes(std::string_view beginning);

/// Reads the file twice. Memory: 24 bytes for each time off the processors; 40 an event where these are not
/// in the order of time. Errors: those of the file; no pair of probes in it, with what is there instead.
Result<trace::TraceReader> read(const std::string& path, const Progress& progress);

}  // namespace rdam::inputs::probes
