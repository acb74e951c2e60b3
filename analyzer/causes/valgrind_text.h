// What DRD and Helgrind print on standard error; the program's own output in between is skipped. With -s
// repeated errors count as often as they occurred.
#pragma once

#include <string_view>

#include "analyzer/causes/formats.h"

namespace rdam::causes {

bool is_valgrind_text(std::string_view text);
CauseReports parse_valgrind_text(std::string_view text, std::string_view origin);

}  // namespace rdam::causes
