// Which file a process's trace goes to.
#pragma once

#include <string>

#include "analyzer/trace/event.h"
#include "wrappers/support/result.h"

namespace rdam::agent {

struct OutputFile {
    int fd = -1;
    std::string path;
    std::string remark;  ///< why it is not the name that was asked for; may be empty
};

/// Whether a file could be made at `path`, without making one.
Result<void> check_writable(const std::string& path);

/// Opens and locks the file for the trace of `process`. `wanted` itself when no other process of the same run
/// has its trace there and nobody is writing it; else `trace.PID.bin`, then `trace.PID.2.bin`, … (DESIGN §4).
Result<OutputFile> open_output(const std::string& wanted, const trace::ProcessInfo& process);

}  // namespace rdam::agent
