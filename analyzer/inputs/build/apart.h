// Builds a trace in a process of its own, for formats that a library reads which crashes at malformed files.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "analyzer/inputs/build/trace_builder.h"
#include "tools/base/result.h"
#include "tools/trace/reader.h"

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
