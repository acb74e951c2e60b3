#include "analyzer/settings/comparison.h"

#include <algorithm>
#include <utility>

#include "analyzer/settings/named_rules.h"

namespace rdam::score {
namespace {

using Names = std::vector<std::string>;

bool has(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// What is given wins.
void overrule(Names& names, const Names& by_the_opposite) {
    std::erase_if(names, [&](const std::string& name) { return has(by_the_opposite, name); });
}

}  // namespace

Comparison comparison(const Settings& settings, NamedRules known) {
    overrule(known.keys, settings.given.no_keys);
    overrule(known.no_keys, settings.given.keys);
    for (const RuleList& list : kRuleLists)
        for (const std::string& name : settings.given.*list.names)
            if (!has(known.*list.names, name)) (known.*list.names).push_back(name);
    return {.baseline = settings.baseline,
            .rules = std::move(known),
            .deep_keys = settings.sequences.deep_keys,
            .fold_loops = settings.sequences.fold_loops,
            .rules_file = settings.rules_file};
}

}  // namespace rdam::score
