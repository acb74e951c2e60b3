// The page of a run of several processes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/settings/settings.h"
#include "tools/base/result.h"
#include "tools/rdam/command/scoring_options.h"

namespace rdam {

/// Whether the traces are those of one run's processes: more than two, or two of which `rdam record` says so.
/// What cannot be read is none.
bool are_processes(const std::vector<std::string>& traces);

struct ProcessesPage {
    std::string html;
    std::size_t processes = 0;
    bool complete = true;  ///< all traces could be read; of the others, a line is on stderr
};

/// One process after the other; those that lost most are analyzed again, with all that a page shows. Errors:
/// none of the traces can be read; a name in `settings` that none has; --since and --until leave nothing.
/// Throws std::runtime_error if it is interrupted.
Result<ProcessesPage> processes_page(const std::vector<std::string>& traces, const score::Settings& settings,
                                     const std::optional<RulesInForce>& rules);

}  // namespace rdam
