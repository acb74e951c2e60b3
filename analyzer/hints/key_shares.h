// What each parameter of a function, and its caller, would explain as a key.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/score/report.h"
#include "analyzer/trace/event.h"

namespace rdam::hints {

struct KeyShare {
    std::uint16_t parameter = 0;  ///< index into FunctionInfo::parameters; mining::kCallerKey
    double explains = 0;          ///< of the variation, 0…1
    double rdam_with_key = 0;     ///< the score that would be left: an estimate
};

/// Of `row`, one of the report's. Parameters that are not recorded with each call are left out; so are all
/// where the sample is too small to tell.
std::vector<KeyShare> key_shares(const trace::TraceInfo& info, const score::Report& report,
                                 const score::FunctionRow& row);

}  // namespace rdam::hints
