// Which threads share stacks, so that their events must be read together.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "analyzer/trace/read/reader.h"
#include "wrappers/support/result.h"

namespace rdam::inputs {

struct StackSurvey {
    std::vector<std::vector<std::uint32_t>>
        groups;                                ///< every thread once, with all that share stacks with it
    std::unordered_set<std::uint64_t> shared;  ///< stacks on which several threads have run
};

/// Reads all events of threads that switch their stacks.
Result<StackSurvey> survey_stacks(const trace::TraceReader& reader);

}  // namespace rdam::inputs
