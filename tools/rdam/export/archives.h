// `rdam export --format`, for formats that are a directory.
#pragma once

#include "analyzer/export/format.h"
#include "tools/base/result.h"
#include "tools/rdam/export/arguments.h"
#include "tools/trace/reader.h"

namespace rdam {

/// Whether the directory may go where it is wanted. Error: why not.
Result<void> check_archive_place(const ExportArguments& options, const formats::Format& format);

/// What was written, and is at its place.
Result<formats::Written> export_archive(const trace::TraceReader& reader, const ExportArguments& options,
                                        const formats::Format& format);

}  // namespace rdam
