#include "analyzer/settings/named_rules.h"

#include "analyzer/sequences/keys.h"

namespace rdam::score {

Result<void> find_named(const trace::TraceInfo& info, const RuleList& list, const std::string& text) {
    const bool of_parameters = list.names == &NamedRules::keys || list.names == &NamedRules::no_keys;
    if (of_parameters) {
        const auto keys = mining::make_keys(info, {{.add = {&text, 1}}});
        if (!keys) return tl::unexpected{keys.error()};
    } else {
        const auto functions = mining::find_functions(info, text);
        if (!functions) return tl::unexpected{functions.error()};
    }
    return {};
}

NamedRules known_rules(const trace::TraceInfo& info, const NamedRules& rules) {
    NamedRules known;
    for (const RuleList& list : kRuleLists) {
        for (const std::string& text : rules.*list.names) {
            if (find_named(info, list, text)) (known.*list.names).push_back(text);
        }
    }
    return known;
}

}  // namespace rdam::score
