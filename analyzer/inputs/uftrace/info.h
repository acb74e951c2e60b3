// The file `info`: a binary header, then lines of text about the recording.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/inputs/uftrace/folder.h"
#include "tools/base/result.h"

namespace rdam::inputs::uftrace {

/// How the names in argument specifications match functions.
enum class Pattern : std::uint8_t { simple, regex, glob };

struct Info {
    bool wide = true;  ///< a 64-bit program
    bool estimated_returns = false;
    bool kernel = false;
    bool switches = false;        ///< perf-cpu*.dat have the scheduler's events
    bool has_debug_info = false;  ///< *.dbg files say how arguments were recorded

    std::string executable;
    std::string command;  ///< of uftrace itself
    std::string host;
    std::string kernel_version;
    std::string processor;
    std::uint32_t processors = 0;
    std::string version;  ///< "0.13"

    Pattern pattern = Pattern::regex;
    std::string arguments;  ///< --argument: `name@arg1/s,…;…`
    std::string results;    ///< --retval
    bool auto_args = false;
    std::string auto_arguments;
    std::string auto_results;
};

/// Whether it begins as an `info` of any version does.
bool begins_as_info(std::string_view bytes);

/// Errors: not uftrace's, written on a machine of the other byte order, a version that is not known, cut.
Result<Info> read_info(const Folder& folder);

}  // namespace rdam::inputs::uftrace
