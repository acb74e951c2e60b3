// `rdam export --format`.
#pragma once

#include "analyzer/trace/read/reader.h"
#include "tools/rdam/export/arguments.h"
#include "wrappers/support/result.h"

namespace rdam {

/// Slices that viewers show without trouble.
inline constexpr std::uint64_t kUsualBudget = 5'000'000;

/// Whether the output may go where it is wanted. Error: why not.
Result<void> check_format_place(const ExportArguments& options);

/// The exit code.
Result<int> export_format(const trace::TraceReader& reader, const ExportArguments& options);

}  // namespace rdam
