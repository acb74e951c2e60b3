// A plan from an earlier run, if nothing has changed since.
#pragma once

#include "wrappers/cache/plan_store.h"
#include "wrappers/plan/planner.h"

namespace rdam {

/// make_plan(), or its earlier result for the same request: the same list, objects and options, the same
/// files (including separate debug files, even missing ones), and the same choices of IFUNC resolvers, for
/// which the process is asked anew.
Plan make_cached_plan(const PlanRequest& request, const Catalogue& catalogue, const PlanStore& store);

}  // namespace rdam
