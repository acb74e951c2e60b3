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

/// Debug information says where a variable is, and at the first instruction an optimizing compiler may
/// already have put another parameter's value there (`a = b;`). So a claim alone proves nothing. It is proven
/// where
/// - the code is not optimized: all parameters are kept in the frame for the function's whole life, the first
///   instructions put a different argument into each, and in the order in which they are written; or
/// - the argument is the one that the System V convention has for a parameter in this position, of a function
///   whose parameters are those in the source. It is not known behind a type that compilers pass differently.
ProvenValues proven_values(const FunctionClaims& claims, const EntryBlock& code);

/// What the user is told; empty: all are proven. `doubt` says why nothing was proven without the code.
std::string unproven_text(const ProvenValues& proven, const std::string& doubt);

}  // namespace rdam
