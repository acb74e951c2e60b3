// Names for the addresses to which perf found none, or one that is not a function's.
#pragma once

#include <map>
#include <string>

#include "wrappers/perf/report_text.h"

namespace rdam {

/// Whether perf has left addresses without a name.
bool has_nameless_places(const PerfReport& report);

/// Replaces addresses, and marks at the begin of functions, by the linkage names of the functions there, as
/// rdam record knows them: perf does not read .gnu_debugdata, nor files without section headers. The
/// addresses are places in the files, as PerfSamples gives them. What has no name stays as it is, and so does
/// what is in a file that is not the one that was sampled (changed_files.h): another function may be there
/// now.
void resolve_addresses(PerfReport& report, const std::map<std::string, std::string>& changed);

}  // namespace rdam
