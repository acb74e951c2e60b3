// Directories that `uftrace record` has written.
#pragma once

#include <string>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/uftrace/folder.h"
#include "tools/base/result.h"
#include "tools/trace/reader.h"

namespace rdam::inputs {

/// Whether a directory is one, by its files.
bool is_uftrace_directory(const std::string& path);

/// Errors: a file that is missing, cut or damaged, another byte order or version.
Result<trace::TraceReader> read_uftrace(const std::string& path, const Progress& progress);

/// `name` of the trace, for messages.
Result<trace::TraceReader> read_uftrace(const uftrace::Folder& folder, const std::string& name,
                                        const Progress& progress);

}  // namespace rdam::inputs
