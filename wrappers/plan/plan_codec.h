// Encodes a finished plan with its sources as bytes, for a file in the plan cache.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wrappers/plan/plan_sources.h"
#include "wrappers/plan/planner.h"

namespace rdam {

struct PlanRecord {
    std::string key;                   ///< plan_key() of the request
    std::vector<PlanSource> sources;   ///< the files, as they were before the plan was made
    std::vector<IfuncChoice> choices;  ///< in the order in which the planner asked
    Plan plan;
};

/// Integers are stored as they lie in memory: a file is read where it was written, by the same rdam.
std::vector<std::uint8_t> encode(const PlanRecord& record);

/// Any bytes at all: nothing where they are not what encode() returned, or say what no planner would (an
/// enumerator that does not exist, code that is longer than it can be, a fix-up outside of its code).
std::optional<PlanRecord> decode(std::span<const std::uint8_t> bytes);

/// Whether every number in the plan is within what the recorder counts on; `objects`: how many there are.
bool is_sound(const Plan& plan, std::size_t objects);

}  // namespace rdam
