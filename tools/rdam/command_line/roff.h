// Text for manual pages.
#pragma once

#include <string>
#include <string_view>

namespace rdam {

/// Text as roff input: nothing in it is taken for a request, a hyphen stays the ASCII one that can be copied.
std::string roff(std::string_view text);

}  // namespace rdam
