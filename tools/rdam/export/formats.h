// `rdam export --format`.
#pragma once

#include "tools/base/result.h"
#include "tools/rdam/export/arguments.h"
#include "tools/trace/reader.h"

namespace rdam {

/// Whether the output may go where it is wanted. Error: why not.
Result<void> check_format_place(const ExportArguments& options);

/// The exit code.
Result<int> export_format(const trace::TraceReader& reader, const ExportArguments& options);

}  // namespace rdam
