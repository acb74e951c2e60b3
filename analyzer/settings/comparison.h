// What the calls of a report were compared with, for its readers.
#pragma once

#include <string>

#include "analyzer/settings/settings.h"

namespace rdam::score {

struct Comparison {
    Baseline baseline = {};
    NamedRules rules = {};  ///< a rules file's and those given, without what the trace lacks
    bool deep_keys = false;
    bool fold_loops = false;
    std::string rules_file = {};  ///< empty: none was in force
};

/// Of a trace in which `known` are the rules of a file that it has a use for.
Comparison comparison(const Settings& settings, NamedRules known);

}  // namespace rdam::score
