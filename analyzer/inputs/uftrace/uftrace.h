// Directories that `uftrace record` has written.
#pragma once

#include <string>

#include "analyzer/inputs/input.h"
#include "analyzer/inputs/uftrace/data/folder.h"

namespace rdam::inputs {

extern const Input kUftrace;

namespace uftrace {

/// `name` of the trace, for messages.
Result<trace::TraceReader> read_folder(const Folder& folder, const std::string& name, const Progress& progress);

}  // namespace uftrace
}  // namespace rdam::inputs
