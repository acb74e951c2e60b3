// Calls as `perf script`, `trace-cmd report` and ftrace's file "trace" print them: pairs of probes at the
// beginning and the return of functions (uprobe and uretprobe, kprobe and kretprobe), the steps of the tracer
// function_graph, and user markers. Every byte is taken as hostile.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/probes/event_line.h"
#include "tools/base/result.h"
#include "tools/trace/reader.h"

namespace rdam::inputs::probes {

/// Whether a text begins like one: with an event of a thread at a time.
bool recognizes(std::string_view beginning);

/// Reads the file twice. Memory: 24 bytes for each time off the processors; 40 an event where these are not
/// in the order of time. Errors: those of the file; no pair of probes in it, with what is there instead.
Result<trace::TraceReader> read(const std::string& path, const Progress& progress);

/// The events of a line, valid until the next one.
using LineParser = std::function<std::optional<EventLine>(std::string_view line)>;

/// Another tool's lines, as events of probes. An event `probe_MODULE:NAME` is called as a function of a module is;
/// what begins with `span_` instead may be called anything.
struct Dialect {
    std::function<LineParser()> parser;  ///< made anew for each time that the file is read
    std::string recorder;
    std::string no_pairs;  ///< what to say if there are no calls
    std::vector<std::string> remarks = {};
};
/// `name`: of the trace, for messages.
Result<trace::TraceReader> read_dialect(const std::string& path, const std::string& name,
                                        const Dialect& dialect, const Progress& progress);

}  // namespace rdam::inputs::probes
