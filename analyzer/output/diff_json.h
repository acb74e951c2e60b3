// What got better or worse from one recording to another, for programs.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/output/diff.h"

namespace rdam::output {

/// One JSON object (docs/json.md) with the `top` largest changes; 0: all.
std::string diff_json(const Diff& diff, std::size_t top);

}  // namespace rdam::output
