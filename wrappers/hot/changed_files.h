// Files that have been replaced since perf sampled their code: perf finds no names in them then.
#pragma once

#include <map>
#include <string>

namespace rdam {

/// Why the file with this file name is not the one that was sampled, for those of the recording `perf_data`
/// whose build ID is another one now or which are gone. What perf cannot say is left out.
std::map<std::string, std::string> changed_files(const std::string& perf_data);

/// The same from the output of `perf buildid-list`.
std::map<std::string, std::string> changed_files_in(const std::string& build_ids);

}  // namespace rdam
