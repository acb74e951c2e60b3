// Which parameters of a function in a language with hidden conventions are where debug information claims.
#pragma once

#include <string>
#include <vector>

#include "wrappers/entry/entry_block.h"
#include "wrappers/prototype/parameter_claims.h"

namespace rdam {

struct ProvenValue {
    std::size_t parameter = 0;  ///< index into the claims
    ArgumentPlace place;
};

struct ProvenValues {
    std::vector<ProvenValue> values;
    std::vector<std::string> missing;  ///< "name (why)" for each other parameter
};

/// A claim is proven by itself, not by what may have been passed before it: debug information names the
/// register at the first instruction, or the function's first instructions put the argument where debug
/// information says that the parameter is. No argument is two parameters.
ProvenValues proven_values(const std::vector<ParameterClaim>& claims, const EntryBlock& code);

/// What the user is told; empty: all are proven. `doubt` says why nothing was proven without the code.
std::string unproven_text(const ProvenValues& proven, const std::string& doubt);

}  // namespace rdam
