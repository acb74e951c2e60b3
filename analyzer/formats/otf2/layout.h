// The files that an archive of ours consists of.
#pragma once

#include <string>
#include <string_view>

#include "wrappers/support/result.h"

namespace rdam::formats::otf2 {

/// traces.otf2, traces.def, and traces/ with a .def and an .evt for each location.
inline constexpr std::string_view kArchiveName = "traces";

}  // namespace rdam::formats::otf2
