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

/// What is claimed of one parameter. A claim is no proof yet: see proven_values().
struct ParameterClaim {
    enum class Where : std::uint8_t {
        nowhere,    ///< nothing that can be followed
        at_entry,   ///< in `registers`, when the function is entered
        somewhere,  ///< in the only one of `registers`, but its compiler does not say from which instruction
                    ///< on
        in_frame,   ///< in the function's frame, or behind its return address, once there is a frame
    };
    std::string name;  ///< empty: not known
    std::string type;  ///< as in the source; of what is passed by reference "T&"
    /// What a value would be: of what is passed by reference, the pointer to it. Nothing: not one value.
    std::optional<ScalarType> scalar;
    /// What it takes of registers and stack, if compilers of its language agree on that.
    std::optional<PassedAs> passed;
    Where where = Where::nowhere;
    bool for_life = false;            ///< `where` is true of the whole function, not of some instructions
    std::vector<unsigned> registers;  ///< DWARF's numbers, of all that its place is made of
    FrameBytes bytes = {};            ///< in_frame: which; of others only how many
};

struct FunctionClaims {
    /// What a compiler has made of the parameters as written.
    enum class Signature : std::uint8_t {
        kept,
        unknown,  ///< it may have dropped some without a word
        changed,
    };

    std::vector<ParameterClaim> parameters;  ///< in the order in which they are written
    /// Whether the address for a result in memory is passed before them; nothing: compilers differ.
    std::optional<bool> hidden_result;
    Signature signature = Signature::kept;
};

/// The claims of a function that begins at `first_instruction`, with these parameters.
FunctionClaims parameter_claims(Dwarf_Die function, std::uint64_t first_instruction,
                                const std::vector<Dwarf_Die>& parameters);

}  // namespace rdam
