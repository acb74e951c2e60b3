// What DRD and Helgrind write with --xml=yes, counts of repeated errors included.
#pragma once

#include <string_view>

#include "analyzer/causes/formats.h"

namespace rdam::causes {

bool is_valgrind_xml(std::string_view text);
CauseReports parse_valgrind_xml(std::string_view text, std::string_view origin);

}  // namespace rdam::causes
