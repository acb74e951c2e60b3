// The icicle of the page: in which paths of calls time was lost and spent, few enough of them to be drawn.
#pragma once

#include <nlohmann/json.hpp>

#include "analyzer/output/html/limits.h"
#include "analyzer/output/html/report_html.h"

namespace rdam::output {

/// The tree of paths: `{names, parent: […], name: […], lost: […], time: […], calls: […], callers: […], left_out}`, of
/// each node what is its own, without the nodes below; parents come first. Between the root and functions are those
/// that call them: the indices in `callers`, of which nothing is known but what is below. Places of one function are
/// one; where symbols are missing, each place stands for itself. Small nodes are added to their parent's child
/// `(smaller ones)`. Null: not known.
nlohmann::ordered_json icicle_json(const PageRun& run, const PageLimits& limits);

}  // namespace rdam::output
