// The first half of the agent's work: from the user's list to a plan in shared memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/trace/event.h"
#include "tools/agent/shared_memory.h"
#include "wrappers/plan/planner.h"

namespace rdam::agent {

/// What the environment asks for (DESIGN §3).
struct Wishes {
    std::optional<std::string> functions;  ///< RDAM_FUNCTIONS; none: the catalogue's default list
    std::string output;                    ///< RDAM_OUTPUT, expanded
    std::string run;                       ///< RDAM_RUN: set by `rdam record`
    bool arguments = true;                 ///< RDAM_ARGS
    bool verbose = false;                  ///< RDAM_VERBOSE
    bool top = true;                       ///< its parent is not recorded: that it leaves no trace is news
    bool first = true;  ///< top, or started by a mere launcher: what becomes of the list is news
    std::uint32_t stack_period = 10000;
};

Wishes read_wishes(std::uint32_t pid);

/// Plans for the process, writes the plan area and announces it. An Error is the reason why nothing is
/// recorded; it has not been announced: whole lines for stderr. On success `info` knows the objects,
/// functions and answers.
Result<Plan> plan_process(const SharedMemory& shared, const ProcessDescription& process, const Wishes& wishes,
                          trace::TraceInfo& info);

/// Announces that nothing is recorded, and why.
void refuse(const SharedMemory& shared, const std::string& text);

}  // namespace rdam::agent
