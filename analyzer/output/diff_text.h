// What got better or worse from one recording to another, for people.
#pragma once

#include <string>

#include "analyzer/output/diff.h"
#include "analyzer/output/text.h"

namespace rdam::output {

/// A table, the largest change first. Nothing from the traces gets into it except through printable().
std::string diff_text(const Diff& diff, const TextOptions& options);

}  // namespace rdam::output
