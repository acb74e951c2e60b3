// perf.data, read by letting `perf script` print its samples.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tools/base/result.h"
#include "wrappers/perf/perf_samples.h"

namespace rdam {

/// Whether a file begins like a perf.data (either byte order, file or pipe form).
bool is_perf_data(std::string_view first_bytes);

/// Whether a path is that of a perf.data, or of a folder of `perf record --threads`.
bool is_perf_recording(const std::string& path);

/// What to say if no sample of the process that was asked for is there.
std::string no_such_process(std::string_view origin, const PerfSamples& samples, std::string_view process);

/// Runs `perf` (looked up in PATH) on the file and adds its samples up as they come; `progress` (may be
/// empty) is called now and then with their number. If there is no perf, or it cannot read the file, the
/// error contains perf's message.
///
/// `process`: the name or number of the process whose samples are asked for; empty: all.
Result<PerfSamples> read_perf_data(const std::string& path, std::string_view process,
                                   const std::function<void(std::uint64_t samples)>& progress);

}  // namespace rdam
