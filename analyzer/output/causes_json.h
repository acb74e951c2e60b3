// The cross-check of causes and effects, for programs.
#pragma once

#include <string>

#include "analyzer/causes/cross_check.h"
#include "analyzer/output/json.h"

namespace rdam::output {

/// The object of to_json(), with `causes`.
std::string to_json(const score::Report& report, Symbols& symbols, const JsonOptions& options,
                    const causes::CrossCheck& check);

}  // namespace rdam::output
