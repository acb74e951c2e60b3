// `rdam analyze --interactive`.
#pragma once

#include "analyzer/score/settings/settings.h"
#include "analyzer/trace/read/reader.h"
#include "tools/rdam/screen/save.h"
#include "wrappers/support/result.h"

namespace rdam::screen {

/// Takes the terminal, reads the trace, and lets the user look and change until they quit or a signal ends
/// the process. Errors: there is no terminal; the errors of score::score_trace().
Result<void> run(const trace::TraceReader& reader, const score::Settings& settings, RulesPlace rules,
                 bool color);

}  // namespace rdam::screen
