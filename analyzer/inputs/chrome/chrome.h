// Chrome's trace events in JSON ("Trace Event Format"), as browsers, Perfetto's tools, many libraries and
// `rdam export --format json` write them.
#pragma once

#include "analyzer/inputs/input.h"

namespace rdam::inputs {

extern const Input kChrome;

}  // namespace rdam::inputs
