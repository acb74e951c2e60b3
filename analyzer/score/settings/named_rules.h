// Rules about functions by name, and the traces that have such functions.
#pragma once

#include <string>
#include <vector>

#include "analyzer/score/settings/settings.h"
#include "analyzer/trace/event.h"
#include "wrappers/support/result.h"

namespace rdam::score {

/// A list of names that NamedRules and Settings both have, and how it is called where people write it.
struct RuleList {
    std::vector<std::string> NamedRules::*rules;
    std::vector<std::string> Settings::*settings;
    const char* name;
};
inline constexpr RuleList kRuleLists[] = {
    {&NamedRules::keys, &Settings::keys, "keys"},
    {&NamedRules::no_keys, &Settings::no_keys, "no-keys"},
    {&NamedRules::split_by_context, &Settings::split_by_context, "split-by-context"},
    {&NamedRules::ignore, &Settings::ignore, "ignore"},
};

/// Whether the trace has what `text`, an entry of this list, names. Error: what it lacks, and what is
/// similar.
Result<void> find_named(const trace::TraceInfo& info, const RuleList& list, const std::string& text);

/// `rules` without those about what the trace lacks.
NamedRules known_rules(const trace::TraceInfo& info, const NamedRules& rules);

}  // namespace rdam::score
