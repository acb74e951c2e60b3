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

/// `keys` are the names of the parameters that are default keys. A doubtful prototype yields a shadow frame
/// and no words.
CallDescription describe_call(const Prototype& prototype, const std::vector<std::string>& keys,
                              bool record_arguments);

/// A shadow frame, and the words of values that are proven each by itself.
CallDescription describe_values(const FunctionClaims& claims, const ProvenValues& proven,
                                const std::vector<std::string>& keys, bool record_arguments);

}  // namespace rdam
