// The report for programs. Its keys are a contract (docs/json.md).
#pragma once

#include <string>

#include "analyzer/output/symbols.h"
#include "analyzer/report/report.h"

namespace rdam::output {

struct JsonOptions {
    std::size_t top = 0;           ///< functions, 0: all
    std::size_t most_stacks = 10;  ///< and callers, of each function; stacks of each caller
};

/// One JSON object, indented, with a newline at its end. Valid UTF-8 whatever the trace holds; no number in
/// it is NaN or infinite.
std::string to_json(const score::Report& report, Symbols& symbols, const JsonOptions& options);

}  // namespace rdam::output
