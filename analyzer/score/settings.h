// What a user may change about an analysis.
#pragma once

#include <string>
#include <vector>

#include "analyzer/mining/sequence_builder.h"
#include "analyzer/score/loss.h"

namespace rdam::score {

struct Settings {
    mining::SequenceOptions sequences = {};
    std::vector<std::string> keys = {};     ///< `function:parameter`: tells sequences apart
    std::vector<std::string> no_keys = {};  ///< `function:parameter`: does not, though it would by default
    std::vector<std::string> ignore = {};   ///< functions that are left out as if they had not been wrapped
    Baseline baseline = {};                 ///< what calls are compared with
    bool patterns = false;                  ///< finds the patterns among siblings too
    unsigned jobs = 0;                      ///< threads that analyze; 0: as many as there are processors
};

}  // namespace rdam::score
