// Which file a process's trace goes to.
#pragma once

#include <string>

#include "tools/base/result.h"
#include "tools/trace/event.h"

namespace rdam::agent {

struct OutputFile {
    int fd = -1;
    std::string path;
    std::string remark;     ///< why it is not the name that was asked for; may be empty
    bool replaced = false;  ///< the trace of an earlier run
};

/// Identifies the run that `process` belongs to: the name that `rdam record` gave it, otherwise the process
/// with which it began.
std::string name_of_run(const trace::ProcessInfo& process);

/// Opens and locks the file for the trace of `process`. `wanted` itself if no other process of the same run
/// has its trace there and no process is writing it, and never a file that is not a trace; otherwise
/// `trace.PID.bin`, then `trace.PID.2.bin`, … (docs/recorder.md, "Names of traces").
Result<OutputFile> open_output(const std::string& wanted, const trace::ProcessInfo& process);

}  // namespace rdam::agent
