// columns.json: what is in the folder of an export, and what is too little for columns.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/columns/export.h"
#include "analyzer/columns/thread_writer.h"

namespace rdam::columns {

inline constexpr const char* kContentsFile = "columns.json";

struct Contents {
    Tables& tables;
    TimeScale time;
    std::vector<std::uint64_t> first_call;  ///< row of each thread's first call
};

/// Writes it into the tables' folder.
Result<void> write_contents(const Contents& contents, const trace::TraceReader& reader,
                            const ExportOptions& options);

}  // namespace rdam::columns
