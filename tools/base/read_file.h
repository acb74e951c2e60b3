// A whole file in memory, with a bound, or its beginning.
#pragma once

#include <string>
#include <string_view>

#include "tools/base/result.h"

namespace rdam {

/// The bytes of a file, or of standard input for `-`. A directory, an unreadable file or more than `limit`
/// bytes is an error that names `path`. Waits for a pipe, but not forever: 2 s until it is opened for
/// writing, a minute while nothing is written.
Result<std::string> read_whole_file(const std::string& path, std::size_t limit);

/// The first bytes of a file, at most `size`: as many as there are at once. Errors name `path`.
Result<std::string> read_beginning(const std::string& path, std::size_t size);

/// How `path` is called in messages.
std::string_view display_path(const std::string& path);

}  // namespace rdam
