// Where debug information says that the parameters of a function are, in languages of whose conventions it
// says nothing.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wrappers/prototype/prototype.h"

namespace rdam {

/// What is claimed of one parameter, by itself: whatever was passed before it, which the language may hide,
/// its place is its own. A claim is no proof yet: see proven_values().
struct ParameterClaim {
    enum class Where : std::uint8_t {
        nowhere,    ///< nothing that can be followed
        at_entry,   ///< in `registers`, when the function is entered
        somewhere,  ///< in the only one of `registers`, but its compiler does not say from which instruction
                    ///< on
        in_frame,   ///< in the function's frame, or behind its return address, once there is a frame
    };
    enum class Base : std::uint8_t { canonical_frame_address, rbp, rsp };

    std::string name;  ///< empty: not known
    std::string type;  ///< as in the source; of what is passed by reference "T&"
    /// What a value would be: of what is passed by reference, the pointer to it. Nothing: not one value.
    std::optional<ScalarType> scalar;
    Where where = Where::nowhere;
    std::vector<unsigned> registers;  ///< DWARF's numbers, of all parts
    Base base = Base::canonical_frame_address;
    std::int64_t offset = 0;  ///< in_frame: from `base`
    std::uint64_t size = 0;   ///< bytes there
};

/// Of a function that begins at `first_instruction`, with these parameters.
std::vector<ParameterClaim> parameter_claims(Dwarf_Die function, std::uint64_t first_instruction,
                                             const std::vector<Dwarf_Die>& parameters);

}  // namespace rdam
