// A whole file in memory, with a bound.
#pragma once

#include <string>
#include <string_view>

#include "wrappers/support/result.h"

namespace rdam {

/// The bytes of a file, or of standard input for `-`. A directory, an unreadable file or more than `limit`
/// bytes is an error that names `path`. A pipe is waited for, but not for ever: 2 s until somebody opens it
/// for writing, a minute while nothing is written.
Result<std::string> read_whole_file(const std::string& path, std::size_t limit);

/// How `path` is called in messages.
std::string_view display_path(const std::string& path);

}  // namespace rdam
