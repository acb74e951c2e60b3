// Opens whatever rdam can analyze: its own traces, and those of other tools, recognized by content.
#pragma once

#include <functional>
#include <string>

#include "analyzer/inputs/build/trace_builder.h"
#include "tools/base/result.h"
#include "tools/trace/reader.h"

namespace rdam::inputs {

struct OpenOptions {
    std::function<void()> waiting = {};  ///< as in TraceReader::open()
    Progress progress = {};              ///< of reading another tool's trace
};

/// `path`: a file or, for formats that have one, a directory. `-`: standard input, which is copied to an
/// unlinked temporary file ($TMPDIR) until it ends.
Result<trace::TraceReader> open_any(const std::string& path, const OpenOptions& options = {});

}  // namespace rdam::inputs
