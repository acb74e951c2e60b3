// From a prototype to what the recorder does at a call: which frame, which words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libprobe/format/plan.h"
#include "wrappers/plan/planner.h"
#include "wrappers/plan/proven_values.h"
#include "wrappers/prototype/prototype.h"

namespace rdam {

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
