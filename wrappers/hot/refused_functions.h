// Which hot functions no recording would have: what the recorder refuses in every run.
#pragma once

#include "wrappers/catalogue/catalogue.h"
#include "wrappers/hot/hot_report.h"

namespace rdam {

/// Moves the functions that the planner of recordings refuses from HotFunctions::functions to left_out, with
/// its reason. A name that means several functions stays if one of them can be wrapped. What is in none of
/// HotReport::objects stays, and so does what is chosen only when the program runs (IFUNC). Never fails: a
/// file that cannot be read tells nothing.
void leave_out_refused(HotReport& report, const Catalogue& catalogue);

}  // namespace rdam
