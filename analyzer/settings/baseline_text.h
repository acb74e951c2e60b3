// The text form of baselines.
#pragma once

#include <optional>
#include <string>

#include "analyzer/statistics/loss.h"

namespace rdam::score {

/// `thread`, `process`, or a percentile from `p0` to `p50`; nothing: none of these.
std::optional<Baseline> parse_baseline(const std::string& text);
/// What it would be parsed from.
std::string to_text(const Baseline& baseline);

}  // namespace rdam::score
