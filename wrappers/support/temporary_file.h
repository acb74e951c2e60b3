// Files that are gone when they are closed.
#pragma once

#include <string_view>

#include "wrappers/support/result.h"

namespace rdam {

/// The descriptor, owned by the caller, of an empty file without a name in $TMPDIR (default: /tmp). `purpose`
/// is part of its name until it has none. Errors: no such directory, no room, not writable.
Result<int> open_temporary_file(std::string_view purpose);

}  // namespace rdam
