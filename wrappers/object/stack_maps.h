// The functions that LLVM's stack maps describe.
#pragma once

#include <cstdint>
#include <vector>

#include "wrappers/object/object_file.h"

namespace rdam {

/// Link-time addresses of the functions in .llvm_stackmaps, ascending; those of position-independent code are
/// taken from its relocations. Damaged tables yield what could be read before the damage.
std::vector<std::uint64_t> functions_with_stack_maps(const ObjectFile& file);

}  // namespace rdam
