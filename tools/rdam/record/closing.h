// What `rdam record` says when the program has ended.
#pragma once

#include <cstdint>
#include <string>

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

}  // namespace rdam
