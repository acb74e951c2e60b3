// A plan from an earlier run, if nothing has changed since.
#pragma once

#include <cstdint>
#include <functional>

#include "wrappers/plan/plan_store.h"
#include "wrappers/plan/planner.h"

namespace rdam {

using PlanMaker = std::function<Plan(const PlanRequest&)>;

/// What `make` makes of a request, or its earlier result for the same one: the same list, objects and
/// options, the same files (including separate debug files, even missing ones), and the same choices of IFUNC
/// resolvers, for which the process is asked anew. `catalogue`: the fingerprint of the one that `make` asks.
Plan make_cached_plan(const PlanRequest& request, std::uint64_t catalogue, const PlanStore& store,
                      const PlanMaker& make);

}  // namespace rdam
