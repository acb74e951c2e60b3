// How scores look, wherever they stand.
#pragma once

#include <string>

#include "analyzer/report/report.h"
#include "analyzer/settings/settings.h"
#include "tools/rdam/screen/text.h"

namespace rdam::screen {

/// As in the report of `rdam analyze`: scores worth a look are highlighted.
Look look_of_score(double score, double threshold);

/// `module:name`, fit for a terminal.
std::string function_name(const score::FunctionRow& row);
/// A number of calls of the function: `~` if not all were recorded.
std::string calls(const score::FunctionRow& row, std::uint64_t count);

}  // namespace rdam::screen
