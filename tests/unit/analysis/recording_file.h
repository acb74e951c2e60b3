// A recording as a trace file.
#pragma once

#include <cstddef>
#include <string>

#include "tests/unit/analysis/recording.h"
#include "tests/unit/memory_file.h"
#include "tools/trace/reader.h"

namespace rdam::test {

/// `events`: of a chunk.
void write_file(const Recording& recording, const std::string& path, std::size_t events = 500);

/// Of such a file.
trace::TraceReader reader_of(const Recording& recording, std::size_t events = 500);

}  // namespace rdam::test
