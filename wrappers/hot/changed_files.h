// Files that have been replaced since perf sampled their code: perf finds no names in them then.
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <string>

namespace rdam {

/// Why the file with this path is not the one that was sampled, for those of the recording `perf_data` whose
/// build ID is another one now or which are gone. Of a file without one, `inodes` has the inode, by path; it
/// has been replaced if that is another one, or has been written to, if this has happened since the
/// recording. What perf cannot say is left out.
std::map<std::string, std::string> changed_files(const std::string& perf_data,
                                                 const std::map<std::string, std::uint64_t>& inodes);

/// changed_files() from the output of `perf buildid-list`. `recorded`: when the recording ended.
std::map<std::string, std::string> changed_files_in(const std::string& build_ids,
                                                    const std::map<std::string, std::uint64_t>& inodes,
                                                    timespec recorded);

}  // namespace rdam
