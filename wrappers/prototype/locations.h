// DWARF locations of parameters: where debug information says that they are, against where the System V
// convention puts them.
#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "wrappers/prototype/prototype.h"

namespace rdam {

struct Location {
    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;  ///< 0: none is known
    bool of_addresses =
        false;  ///< from a list, which says for each place the instructions that it is true of
};

/// The location in `attribute_name` of the DIE or its origin, at an instruction.
Location location_at(Dwarf_Die die, unsigned attribute_name, std::uint64_t address);

/// Where a parameter is when its function is entered. gcc may give several places that begin there, all but
/// the last of them for no byte of code at all: the last is where the parameter will be behind the
/// instructions that follow, so it is the first that counts.
Location location_on_entry(Dwarf_Die parameter, std::uint64_t first_instruction);

/// DWARF's number of the register that holds the value; nothing: the operation means something else.
std::optional<unsigned> register_of(const Dwarf_Op& operation);

/// The register whose value is the parameter's address.
std::optional<unsigned> address_register_of(const Dwarf_Op& operation);

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
