// What `rdam record` says when the program has ended.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tools/base/result.h"
#include "tools/rdam/record/program.h"
#include "tools/rdam/record/starter.h"
#include "tools/trace/trace_name.h"

namespace rdam {

// Where the trace of a run goes.

/// The name of the trace, and the run's hold on that name, from before the program starts until its files
/// have been listed.
struct Output {
    std::string shown;  ///< as the user has written it
    std::string path;   ///< absolute
    trace::NameLock name = {};
    bool is_pattern = false;  ///< each process fills it in for itself, and holds the name that it gets;
                              ///< they tell what concerns the run under the name as it is here
    std::set<std::string> earlier = {};     ///< traces that may be replaced
    std::vector<std::string> written = {};  ///< after close_run(): those of the run
};

/// Takes the name `wanted`, or one beside it if another recording holds it, for the run `run`. Fails if no trace can be written there.
Result<Output> claim_output(const std::string& wanted, const std::string& run);

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
void report_to_outer_recording(const std::vector<std::string>& traces);

/// The message about an inner recording, without a prefix. `told` are absolute paths, one per line; not
/// empty.
std::string describe_inner(const std::string& told);

}  // namespace rdam
