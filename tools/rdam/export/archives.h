// `rdam export --format`, for formats that are a directory.
#pragma once

#include "analyzer/formats/format.h"
#include "analyzer/trace/read/reader.h"
#include "tools/rdam/export/arguments.h"
#include "wrappers/support/result.h"

namespace rdam {

/// Whether the directory may go where it is wanted. Error: why not.
Result<void> check_archive_place(const ExportArguments& options, const formats::Format& format);

/// What was written, and is at its place.
Result<formats::Written> export_archive(const trace::TraceReader& reader, const ExportArguments& options,
                                        const formats::Format& format);

}  // namespace rdam
