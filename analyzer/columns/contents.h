// columns.json: what the directory of an export contains, and small data that needs no columns.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/columns/export.h"
#include "analyzer/columns/thread_writer.h"
#include "tools/base/result.h"

namespace rdam::columns {

inline constexpr const char* kContentsFile = "columns.json";
inline constexpr const char* kFormat = "rdam columns";  ///< its `format`

/// The folders in the folder of an export. The last is only there where context switches were recorded.
inline constexpr std::array<std::string_view, 4> kRooms{"calls", "sequences", "values", "off_cpu"};

struct Contents {
    Tables& tables;
    trace::TimeScale time;
    std::vector<std::uint64_t> first_call;  ///< row of each thread's first call
};

/// Writes it into the tables' folder.
Result<void> write_contents(const Contents& contents, const trace::TraceReader& reader,
                            const ExportOptions& options);

// Checks that a directory holds an export and nothing else; only then may it be replaced.

/// Error: `folder` is not one that export_columns() has made, or something else lies in it, which is named.
Result<void> check_only_columns(const std::string& folder);

}  // namespace rdam::columns
