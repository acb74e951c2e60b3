// Coz's profile.coz. A line's share is the slope of the program's speed-up over the line's virtual speed-up,
// by least squares through the origin, weighted by visits: 1 means that the program gets faster as much as
// the line does, 0 that the line does not matter. A negative slope (contention) counts as much; `absolute`
// has the sign. Of several progress points the one with the steepest slope counts.
// Lines that were sped up by fewer than five amounts, none among them, have no row.
#pragma once

#include <string_view>

#include "analyzer/causes/formats.h"

namespace rdam::causes {

bool is_coz(std::string_view text);
CauseReports parse_coz(std::string_view text, std::string_view origin);

}  // namespace rdam::causes
