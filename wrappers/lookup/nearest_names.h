// Functions of a program with a name similar to one that does not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wrappers/lookup/object_set.h"

namespace rdam {

/// Up to three names ("module:name") of functions in `where`, the likeliest first (SimilarNames). Looks at a
/// bounded number of names.
std::vector<std::string> nearest_names(std::string_view wanted, ObjectSet& objects,
                                       const std::vector<std::size_t>& where);

}  // namespace rdam
