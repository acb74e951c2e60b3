// `rdam hot`: from a perf profile to a list of functions.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/base/result.h"
#include "wrappers/catalogue/catalogue.h"
#include "wrappers/hot/hot_functions.h"
#include "wrappers/perf/perf_samples.h"

namespace rdam {

struct HotRequest {
    /// perf.data, a folder of `perf record --threads`, or text of `perf report --stdio` or `perf script`;
    /// `-`: standard input
    std::string input = "perf.data";
    std::string process;  ///< name or number of the process whose samples count; empty: all
    HotOptions options;
    bool waits = true;  ///< add the waiting functions that the program can call
    std::function<void(std::uint64_t samples)> progress;  ///< of a perf.data; may be empty
    std::vector<std::string> programs;  ///< ELF files to look up those in; empty: those the input names
};

struct HotReport {
    HotFunctions hot;
    std::vector<std::string> waits;  ///< those not among `hot`, sorted
    std::vector<std::string> notes;  ///< one line each: what a user should know of how this came about
    /// Paths of the files whose code was sampled, as far as they are known.
    std::vector<std::string> objects;
    std::map<std::string, std::string> changed;  ///< by path: why the file is not the one sampled
    SamplePlaces places;  ///< where in the functions the samples lie; nothing where the input was a text
    std::string coverage =
        {};  ///< coverage_text(), for the list; empty: it is not asked for, or the list has most
};

/// Reads a perf.data by running `perf`. Any other input must be a text of perf's.
Result<HotReport> make_hot_report(const HotRequest& request, const Catalogue& catalogue);

/// The list, ready for parse_function_list, with HotReport::coverage in front: `module:name  # 36.2 %`, or `~module:name  # 12.3 %, small leaf
/// (96 bytes)`, then the waiting functions, `name  # wait`. Behind the share of a mangled name stands the one
/// that can be read: `module:_Z1fi  # 36.2 %, f(int)`.
std::string hot_list_text(const HotReport& report);

/// A line for each thing that is not in the list, with the reason (one for all kernel symbols whose time counts
/// for others); then the notes. Names in it are as perf
/// printed them: make them safe before they reach a terminal.
std::vector<std::string> left_out_lines(const HotReport& report, const HotOptions& options);

// Files that have been replaced since perf sampled their code: perf finds no names in them then.

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
