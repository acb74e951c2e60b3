// Where the trace of a run goes.
#pragma once

#include <set>
#include <string>

#include "tools/base/result.h"
#include "tools/trace/trace_name.h"

namespace rdam {

/// The name of the trace, and the run's hold on that name, from before the program starts until its files
/// have been listed.
struct Output {
    std::string shown;  ///< as the user has written it
    std::string path;   ///< absolute
    trace::NameLock name = {};
    bool is_pattern = false;  ///< each process fills it in for itself, and holds the name that it gets;
                              ///< they tell what concerns the run under the name as it is here
    std::set<std::string> earlier = {};  ///< traces that may be replaced
};

/// Takes the name `wanted`, or one beside it (with a line to stderr) if another recording holds it, for the
/// run `run`. Fails if no trace can be written there.
Result<Output> claim_output(const std::string& wanted, const std::string& run);

}  // namespace rdam
