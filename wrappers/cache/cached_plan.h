// A plan from an earlier run, if nothing has changed since.
#pragma once

#include "wrappers/cache/plan_store.h"
#include "wrappers/plan/planner.h"

namespace rdam {

/// make_plan(), or what it returned before for the same request: same list, objects and options, the same
/// files (separate debug files, those that are not there included), and the same answers of IFUNC resolvers,
/// which the process is asked for anew.
Plan make_cached_plan(const PlanRequest& request, const Catalogue& catalogue, const PlanStore& store);

}  // namespace rdam
