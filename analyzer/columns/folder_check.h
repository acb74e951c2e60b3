// Checks that a directory holds an export and nothing else; only then may it be replaced.
#pragma once

#include <string>

#include "tools/base/result.h"

namespace rdam::columns {

/// Error: `folder` is not one that export_columns() has made, or something else lies in it, which is named.
Result<void> check_only_columns(const std::string& folder);

}  // namespace rdam::columns
