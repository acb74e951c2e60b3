// A plan from an earlier run, if nothing has changed since.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wrappers/plan/plan_sources.h"
#include "wrappers/plan/plan_store.h"
#include "wrappers/plan/planner.h"

namespace rdam {

using PlanMaker = std::function<Plan(const PlanRequest&)>;

/// What `make` makes of a request, or its earlier result for the same one: the same list, objects and
/// options, the same files (including separate debug files, even missing ones), and the same choices of IFUNC
/// resolvers, for which the process is asked anew. `catalogue`: the fingerprint of the one that `make` asks.
Plan make_cached_plan(const PlanRequest& request, std::uint64_t catalogue, const PlanStore& store,
                      const PlanMaker& make);

// Encodes a finished plan with its sources as bytes, for a file in the plan cache.

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
