// The cross-check of causes and effects, for people.
#pragma once

#include <string>

#include "analyzer/causes/cross_check.h"
#include "analyzer/output/text.h"

namespace rdam::output {

/// A table and what it is made from; to follow the text of the report. Nothing from a trace or a tool gets
/// into it except through printable().
std::string causes_text(const causes::CrossCheck& check, const TextOptions& options);

}  // namespace rdam::output
