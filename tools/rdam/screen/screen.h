// `rdam analyze --interactive`.
#pragma once

#include "analyzer/score/settings/settings.h"
#include "analyzer/trace/read/reader.h"
#include "tools/rdam/screen/save.h"
#include "wrappers/support/result.h"

namespace rdam::screen {

/// Takes the terminal, reads the trace, and lets somebody look and change until they have enough or a signal
/// ends the process. Errors: the terminal is none; those of score::score_trace().
Result<void> run(const trace::TraceReader& reader, const score::Settings& settings, RulesPlace rules,
                 bool color);

}  // namespace rdam::screen
