// Where debug information says that parameters are when a function is entered, against where the System V
// convention puts them.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>

#include "wrappers/prototype/calling_convention.h"
#include "wrappers/prototype/prototype.h"

namespace rdam {

enum class EntryEvidence : std::uint8_t {
    agrees,
    silent,       ///< no location there, a constant, or one that cannot be followed
    contradicts,  ///< in another register, or elsewhere on the stack
};

/// What the location of `parameter` at the first instruction of `function` says about `place`. A slot in the
/// function's own frame agrees: in code that is not optimized, parameters are stored there, unchanged. clang
/// passes parameters in any register (`preserve_none`), gcc does not, but may say early that they are where
/// they will be.
EntryEvidence evidence_at_entry(Dwarf_Die function, Dwarf_Die parameter, std::uint64_t first_instruction,
                                const ArgumentPlace& place, bool is_llvm);

}  // namespace rdam
