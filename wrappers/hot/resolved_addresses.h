// Names for the addresses to which perf found none.
#pragma once

#include "wrappers/perf/report_text.h"

namespace rdam {

/// Replaces addresses by the linkage names of the functions there, as rdam record knows them: perf does not
/// read .gnu_debugdata, nor files without section headers. The addresses are places in the files, as
/// PerfSamples gives them. What has no name stays as it is.
void resolve_addresses(PerfReport& report);

}  // namespace rdam
