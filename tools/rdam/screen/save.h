// Saves the rules that the user has found on the screen.
#pragma once

#include <string>

#include "analyzer/settings/rules.h"
#include "tools/base/result.h"
#include "tools/rdam/screen/session.h"

namespace rdam::screen {

/// Where rules are kept.
struct RulesPlace {
    std::string file;         ///< that is proposed
    bool in_force = false;    ///< what it says is what the session began with
    rules::Rules rules = {};  ///< that, if so
};

/// What a rules file has to say for the next analysis to give these scores.
rules::Rules wanted_rules(const feedback::Session& session, const RulesPlace& place);

/// Whether there is a file whose content has not been read.
bool would_replace_unread(const RulesPlace& place, const std::string& file);

/// From then on `file` is the one in force.
Result<void> save_rules(feedback::Session& session, RulesPlace& place, const std::string& file);

}  // namespace rdam::screen
