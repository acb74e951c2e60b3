// Rules about functions by name, and which traces have these functions.
#pragma once

#include <string>
#include <vector>

#include "analyzer/settings/settings.h"
#include "tools/base/result.h"
#include "tools/trace/event.h"

namespace rdam::score {

/// A list of NamedRules, and how it is called where people write it.
struct RuleList {
    std::vector<std::string> NamedRules::*names;
    const char* title;
};
inline constexpr RuleList kRuleLists[] = {
    {&NamedRules::keys, "keys"},
    {&NamedRules::no_keys, "no-keys"},
    {&NamedRules::split_by_context, "split-by-context"},
    {&NamedRules::ignore, "ignore"},
};

/// Whether the trace has what `text`, an entry of this list, names. Error: what it lacks, and what is
/// similar.
Result<void> find_named(const trace::TraceInfo& info, const RuleList& list, const std::string& text);

/// `rules` without those about what the trace lacks.
NamedRules known_rules(const trace::TraceInfo& info, const NamedRules& rules);

}  // namespace rdam::score
