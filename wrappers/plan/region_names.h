// Which names on a list are regions that an object marks itself (rdam/rdam.h).
#pragma once

#include <string_view>

#include "wrappers/object/object_file.h"

namespace rdam {

/// Whether the object has regions and holds this name among its constants. A region is known to the recorder
/// only when the program gets there, so this may be true of a name that is none. Reads all constants.
bool may_have_region(const ObjectFile& file, std::string_view name);

}  // namespace rdam
