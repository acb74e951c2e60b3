// The report on stderr, before the program starts, of what became of each entry of the user's list.
#pragma once

#include <map>
#include <string>

#include "tools/agent/memory/shared_memory.h"
#include "tools/agent/plan/configuration.h"
#include "tools/trace/event.h"
#include "wrappers/plan/planner.h"

namespace rdam::agent {

/// One answer's reason with the nearest names, as kept in the trace; no control characters.
std::string explain(const Answer& answer);

/// Variables that look like the recorder's and are not, each "rdam: …\n". `rdam record` says so itself.
std::string variables_text(const ProcessDescription& process, const Configuration& configuration);

/// The lines for stderr, each "rdam: …\n": what is not wrapped and why, remarks, and with RDAM_VERBOSE what
/// is; an entry that means many functions has one line for those that are wrapped
/// and one for those that are not, unless RDAM_VERBOSE wants them all. When nothing is wrapped one line says
/// so, unless the process is a mere launcher (a shell) of the real one.
std::string answer_text(const Plan& plan, const ProcessDescription& process,
                        const Configuration& configuration);

/// What is true once the functions are wrapped: with RDAM_VERBOSE or under `rdam record` how many are, and
/// which of them are sampled.
std::string wrapped_text(const Plan& plan, const ProcessDescription& process,
                         const Configuration& configuration);

/// wrapped_text() and answer_text() for objects loaded later.
std::string late_wrapped_text(const Plan& plan, const ProcessDescription& process,
                              const Configuration& configuration);
std::string late_answer_text(const Plan& plan, const Configuration& configuration);
/// Replaces late_wrapped_text() where there are too many libraries to name them.
std::string further_libraries_text(const Configuration& configuration);

/// At the end: which functions the budget did not suffice for.
std::string windowed_text(const trace::TraceInfo& info, const Configuration& configuration);

/// At the end: the lines for libraries that were never loaded. `awaited`: entries of the list and their
/// libraries.
std::string never_loaded_text(const std::map<std::string, std::string>& awaited,
                              const ProcessDescription& process);

}  // namespace rdam::agent
