// Where a result is written: what is there already is kept unless the user says otherwise.
#pragma once

#include <string>

#include "wrappers/support/result.h"

namespace rdam {

/// Error: `path` is there, and is not an empty file or folder, a device or a pipe, in which nothing is lost.
Result<void> check_unused(const std::string& path);

/// How the option is called that says otherwise, and what --help says of it.
inline constexpr const char* kOverwriteOption = "--overwrite";
inline constexpr const char* kOverwriteText = "Replace existing output";

}  // namespace rdam
