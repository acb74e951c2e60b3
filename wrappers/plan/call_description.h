// From a prototype to what the recorder does at a call: which frame, which words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libprobe/format/plan.h"
#include "wrappers/entry/entry_block.h"
#include "wrappers/plan/planner.h"
#include "wrappers/prototype/parameter_claims.h"
#include "wrappers/prototype/prototype.h"

namespace rdam {

// Which parameters of a function in a language with hidden conventions are where debug information claims.

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

struct CallDescription {
    plan::Frame frame = plan::Frame::shadow;
    std::uint32_t stack_bytes = 0;
    plan::Recording recording;
    std::vector<Parameter> parameters;
    std::optional<Parameter> result;
};

/// What tells the calls of a function apart by default (CatalogueFunction).
struct DefaultKeys {
    std::vector<std::string> names;  ///< of parameters
    std::vector<std::string> sizes;  ///< those of them that say how much is to be done
    bool result_is_size = false;     ///< the result is a key, too

    /// `result`: whether the function's result is that of `known`.
    static DefaultKeys of(const CatalogueFunction& known, bool result);
};

/// A doubtful prototype yields a shadow frame and no words.
CallDescription describe_call(const Prototype& prototype, const DefaultKeys& keys, bool record_arguments);

/// A shadow frame, and the words of values that are proven each by itself.
CallDescription describe_values(const FunctionClaims& claims, const ProvenValues& proven,
                                const DefaultKeys& keys, bool record_arguments);

}  // namespace rdam
