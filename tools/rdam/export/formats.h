// `rdam export --format`.
#pragma once

#include "analyzer/trace/read/reader.h"
#include "tools/rdam/export/arguments.h"
#include "wrappers/support/result.h"

namespace rdam {

/// Whether the output may go where it is wanted. Error: why not.
Result<void> check_format_place(const ExportArguments& options);

/// The exit code.
Result<int> export_format(const trace::TraceReader& reader, const ExportArguments& options);

}  // namespace rdam
