// How values of a class are copied, which decides how they are passed.
#pragma once

#include <cstdint>

#include "wrappers/prototype/type_walk.h"

namespace rdam {

enum class Copying : std::uint8_t {
    bitwise,         ///< handed over like a C structure
    by_constructor,  ///< "non-trivial for the purposes of calls" (Itanium C++ ABI 1.1): handed over by
                     ///< address
    unknown,         ///< the debug information does not say
};

/// clang says it outright (DW_AT_calling_convention); from gcc's output it follows from the special member
/// functions that were declared, their DW_AT_defaulted and DW_AT_deleted, virtual functions, and the bases
/// and members.
Copying copying_of(const PeeledType& type);

}  // namespace rdam
