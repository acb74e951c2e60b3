// `rdam analyze --interactive`.
#pragma once

#include "analyzer/settings/settings.h"
#include "tools/base/result.h"
#include "tools/rdam/screen/controller.h"
#include "tools/trace/reader.h"

namespace rdam::screen {

/// Takes the terminal, reads the trace, and lets the user look and change until they quit or a signal ends
/// the process. Errors: there is no terminal; the errors of score::score_trace().
Result<void> run(const trace::TraceReader& reader, const score::Settings& settings, RulesPlace rules,
                 bool color);

}  // namespace rdam::screen
