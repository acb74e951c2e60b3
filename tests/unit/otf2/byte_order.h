// An archive as a machine of the other byte order would have written it.
#pragma once

#include <string>

namespace rdam::test {

/// Of an archive of calls without attributes, whose files have one chunk each.
void swap_byte_order(const std::string& folder);

}  // namespace rdam::test
