// The smaller views: lists of one thing a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/statistics/loss.h"
#include "tools/rdam/screen/content.h"
#include "tools/trace/event.h"

namespace rdam::screen {

/// The choices are `ignored`.
Content ignored_content(const trace::TraceInfo& info, const std::vector<std::uint32_t>& ignored,
                        std::size_t width);

/// What can be chosen as the baseline; `present`, whatever it is, is among them.
std::vector<score::Baseline> baselines(const score::Baseline& present);
/// Index into baselines().
std::size_t place_of_present(const score::Baseline& present);
/// The choices are baselines().
Content baselines_content(const score::Baseline& present, std::size_t width);

Content notes_content(const std::vector<std::string>& notes, std::size_t width);

/// All keys.
Content help_content(std::size_t width);

}  // namespace rdam::screen
