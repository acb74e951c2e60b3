// perf.data, read by letting `perf report` print it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wrappers/support/result.h"

namespace rdam {

/// Whether a file begins like a perf.data (either byte order, file or pipe form).
bool is_perf_data(std::string_view first_bytes);

struct PerfData {
    std::string rows;   ///< a report with exact periods and, if recorded, folded chains
    std::string names;  ///< a report with a row for every name in the chains; empty without chains
    std::vector<std::string> objects;  ///< paths of the executables and libraries that were mapped
};

/// Runs `perf` (looked up in PATH) several times on the file. No perf, or one that cannot read the file, is
/// an error that says what perf said.
Result<PerfData> read_perf_data(const std::string& path);

/// What `perf script` prints of the file; empty where it cannot be had.
std::string perf_script(const std::string& path, const std::vector<std::string>& options);

}  // namespace rdam
