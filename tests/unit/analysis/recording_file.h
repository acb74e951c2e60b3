// A recording as a trace file.
#pragma once

#include <string>

#include "tests/unit/analysis/recording.h"
#include "tests/unit/memory_file.h"
#include "tools/trace/reader.h"

namespace rdam::test {

void write_file(const Recording& recording, const std::string& path);

/// Of such a file.
trace::TraceReader reader_of(const Recording& recording);

}  // namespace rdam::test
