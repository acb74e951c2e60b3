// perf.data, read by letting `perf script` print its samples.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "wrappers/perf/perf_samples.h"
#include "wrappers/support/result.h"

namespace rdam {

/// Whether a file begins like a perf.data (either byte order, file or pipe form).
bool is_perf_data(std::string_view first_bytes);

/// Runs `perf` (looked up in PATH) on the file and adds its samples up as they come; `progress` (may be
/// empty) is called now and then with their number. If there is no perf, or it cannot read the file, the
/// error contains perf's message.
Result<PerfSamples> read_perf_data(const std::string& path,
                                   const std::function<void(std::uint64_t samples)>& progress);

}  // namespace rdam
