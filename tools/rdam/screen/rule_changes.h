// Single changes to the rules about functions by name, which leave the rest of a rules file unchanged.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/settings/settings.h"
#include "tools/trace/event.h"

namespace rdam::feedback {

/// The shortest name that distinguishes it from the other functions of the trace: `name`, otherwise
/// `module:name`. Functions that share that too are changed together.
std::string rule_name(const trace::TraceInfo& info, std::uint32_t function);

/// The parameter (or mining::kCallerKey) is a key from now on, or is none. Rules that say so of several are
/// replaced by what they say of the others.
void set_key(const trace::TraceInfo& info, std::uint32_t function, std::uint16_t parameter, bool is_key,
             score::NamedRules& rules);

/// The function is ignored from now on, or is not.
void set_ignored(const trace::TraceInfo& info, std::uint32_t function, bool ignored,
                 score::NamedRules& rules);

/// Settings::rules with Settings::given added: in this trace, the result means the same as both together.
/// Names must be names of the trace.
score::NamedRules combined_rules(const trace::TraceInfo& info, const score::Settings& settings);

}  // namespace rdam::feedback
