// Which threads share stacks, so that their events must be read together.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tools/base/result.h"
#include "tools/trace/reader.h"

namespace rdam::inputs {

struct StackSurvey {
    std::vector<std::vector<std::uint32_t>>
        groups;                                ///< every thread once, with all that share stacks with it
    std::unordered_set<std::uint64_t> shared;  ///< stacks on which several threads have run
    /// By tid: threads on whose stacks others have run, by their begins. A tid may be given twice.
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> lenders;
    std::unordered_set<std::uint32_t> lent;  ///< those threads

    /// The thread that began on the stack with this number, seen at `tsc`; nothing: none that is known.
    std::optional<std::uint32_t> lender(const trace::TraceInfo& info, std::uint64_t stack,
                                        std::uint64_t tsc) const;
};

/// Reads all events of threads that switch their stacks.
Result<StackSurvey> survey_stacks(const trace::TraceReader& reader);

}  // namespace rdam::inputs
