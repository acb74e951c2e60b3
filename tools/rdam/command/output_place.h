// Where a result is written: an existing file is kept unless the user says otherwise.
#pragma once

#include <string>

#include "tools/base/result.h"

namespace rdam {

/// Error: `path` exists, and is not an empty file or directory, a device or a pipe, where nothing would be
/// lost.
Result<void> check_unused(const std::string& path);

/// `path` from the root; unchanged if the current directory no longer exists.
std::string absolute(const std::string& path);

/// The option that overwrites, and its text in --help.
inline constexpr const char* kOverwriteOption = "--overwrite";
inline constexpr const char* kOverwriteText = "Replace existing output";

}  // namespace rdam
