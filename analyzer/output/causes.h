// The cross-check of causes and effects, for people and for programs.
#pragma once

#include <string>

#include "analyzer/causes/cross_check.h"
#include "analyzer/output/json.h"
#include "analyzer/output/text.h"

namespace rdam::output {

/// A table and what it is made from; to follow the text of the report. Nothing from a trace or a tool gets
/// into it except through printable().
std::string causes_text(const causes::CrossCheck& check, const TextOptions& options);

/// The object of to_json(), with `causes`.
std::string to_json(const score::Report& report, Symbols& symbols, const JsonOptions& options,
                    const causes::CrossCheck& check);

/// `agree`, `effect_only`, `cause_only`, `neither`.
const char* verdict_name(causes::CauseVerdict verdict);

/// For people; empty: there is nothing to say.
const char* verdict_text(causes::CauseVerdict verdict);

}  // namespace rdam::output
