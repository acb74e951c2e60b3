// A directory that is there as a whole or not at all: made beside its place, then renamed.
#pragma once

#include <string>

#include "tools/base/files.h"

namespace rdam {

/// Where a link leads, so that it stays one.
std::string place_behind_links(const std::string& path);

/// `fresh`, a directory in `beside`, becomes `place`, where there is nothing or a directory, which `beside`
/// then takes with it. After an error `place` is unchanged.
Result<void> put_in_place(const std::string& fresh, const std::string& place, const TemporaryFolder& beside);

}  // namespace rdam
