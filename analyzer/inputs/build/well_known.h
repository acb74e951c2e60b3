// What the catalogue knows of functions in other tools' traces.
#pragma once

#include "analyzer/trace/event.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::inputs {

/// Adds that a function of this linkage name waits, and which of its parameters are keys by default: those
/// named as in the catalogue.
void mark_well_known(trace::FunctionInfo& function, const Catalogue& catalogue);

}  // namespace rdam::inputs
