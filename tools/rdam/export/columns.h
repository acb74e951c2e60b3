// `rdam export --columns`.
#pragma once

#include "analyzer/trace/read/reader.h"
#include "tools/rdam/export/arguments.h"
#include "wrappers/support/result.h"

namespace rdam {

/// Whether the columns may go where they are wanted. Error: why not.
Result<void> check_columns_place(const ExportArguments& options);

/// The exit code.
Result<int> export_columns(const trace::TraceReader& reader, const ExportArguments& options);

}  // namespace rdam
