// How a value of a type is passed: the classification of the System V AMD64 psABI (3.2.3) on DWARF types.
#pragma once

#include <elfutils/libdw.h>

#include <optional>
#include <string>

#include "wrappers/prototype/prototype.h"

namespace rdam {

struct TypeLayout {
    PassedAs passed;  ///< as an argument
    PrototypeResult::Where returned = PrototypeResult::Where::nowhere;
    std::optional<ScalarType> scalar;
    bool is_wide_integer = false;  ///< __int128
    std::string doubt;             ///< not empty: nothing else here is certain, and why
};

/// Where compilers differ, or DWARF does not say enough (vectors beyond 16 bytes, classes whose copying is
/// not described, incomplete types), the layout is doubtful.
TypeLayout layout_of(Dwarf_Die type);

}  // namespace rdam
