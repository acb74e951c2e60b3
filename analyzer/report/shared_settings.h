// Settings for several traces at once: a name must exist in at least one of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/settings/settings.h"
#include "tools/base/result.h"
#include "tools/trace/event.h"

namespace rdam::score {

class SharedSettings {
  public:
    explicit SharedSettings(Settings settings);

    /// Tells it of a trace that will be analyzed.
    void look_at(const trace::TraceInfo& info);

    /// After all traces. Error: a name that none of them has; it is the first trace's.
    Result<void> all_found() const;

    /// After all traces. The rules (Settings::rules) that none of them has a use for, one sentence each.
    std::vector<std::string> unused_rules() const;

    /// The settings without the names that this trace lacks.
    Settings for_trace(const trace::TraceInfo& info) const;

  private:
    struct Name {
        const RuleList* list;                           ///< null: one of the selection's
        std::vector<std::string> Selection::*selected;  ///< null: of settings.given, or settings.rules
        std::string text;
        bool rule = false;  ///< of Settings::rules
        bool found = false;
        std::optional<Error> error = {};
    };

    static Result<void> find(const Name& name, const trace::TraceInfo& info);

    Settings settings_;
    std::vector<Name> names_;
};

}  // namespace rdam::score
