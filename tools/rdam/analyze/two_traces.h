// The settings with which two traces are analyzed so that they can be compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/report/shared_settings.h"
#include "analyzer/settings/settings.h"
#include "tools/base/result.h"
#include "tools/rdam/command/rules_options.h"
#include "tools/trace/event.h"

namespace rdam {

class TwoTraces {
  public:
    /// Opens both, and says on stderr what they have not in common. Errors: those of opening, and a name in
    /// `settings` that neither has.
    static Result<TwoTraces> look_at(const std::vector<std::string>& traces, const score::Settings& settings,
                                     const std::optional<RulesInForce>& rules);

    score::Settings settings_for(const trace::TraceInfo& info) const;

  private:
    TwoTraces(score::SharedSettings shared, bool plainly) : shared_(std::move(shared)), plainly_(plainly) {}

    score::SharedSettings shared_;
    bool plainly_;  // only one tells the resolution of its clock
};

}  // namespace rdam
