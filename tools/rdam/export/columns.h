// `rdam export --columns`.
#pragma once

#include "tools/base/result.h"
#include "tools/rdam/export/arguments.h"
#include "tools/trace/reader.h"

namespace rdam {

/// Whether the columns may go where they are wanted. Error: why not.
Result<void> check_columns_place(const ExportArguments& options);

/// The exit code.
Result<int> export_columns(const trace::TraceReader& reader, const ExportArguments& options);

}  // namespace rdam
