// What `rdam record` says when the program has ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/rdam/record/output.h"
#include "tools/rdam/record/program.h"
#include "tools/rdam/record/starter.h"

namespace rdam {

enum class Outcome : std::uint8_t {
    whole,
    incomplete,       ///< not all that was recorded is in the traces
    nothing_wrapped,  ///< no program of the run was recorded, as a program that nobody else starts is not run
};

/// Waits for the agents of run `run`, and reports to stderr which traces exist, which are missing and why,
/// and which processes go on. Meanwhile the starter may end.
Outcome close_run(Output& output, const std::string& run, const Program& program, const ProgramEnd& end,
                  Starter& starter);

// A `rdam record` inside another one: it alone records what it starts.

/// To be called before this process sets the variables of its own run: tells the recording that this process
/// runs under, if there is one, where the calls are. `traces` are what has been written.
void tell_outer_recording(const std::vector<std::string>& traces);

/// The message about an inner recording, without a prefix. `told` are absolute paths, one per line; not
/// empty.
std::string describe_inner(const std::string& told);

}  // namespace rdam
