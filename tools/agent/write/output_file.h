// Which file a process's trace goes to.
#pragma once

#include <string>

#include "analyzer/trace/event.h"
#include "wrappers/support/result.h"

namespace rdam::agent {

struct OutputFile {
    int fd = -1;
    std::string path;
    std::string remark;     ///< why it is not the name that was asked for; may be empty
    bool replaced = false;  ///< the trace of an earlier run
};

/// What tells the run that `process` belongs to from others: the name that `rdam record` gave it, else the
/// process that it began with.
std::string name_of_run(const trace::ProcessInfo& process);

/// Opens and locks the file for the trace of `process`. `wanted` itself when no other process of the same run
/// has its trace there and nobody is writing it, and never a file that is no trace; else `trace.PID.bin`,
/// then `trace.PID.2.bin`, … (DESIGN §4).
Result<OutputFile> open_output(const std::string& wanted, const trace::ProcessInfo& process);

}  // namespace rdam::agent
