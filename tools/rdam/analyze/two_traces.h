// The settings with which two traces are analyzed so that they can be compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/report/shared_settings.h"
#include "analyzer/settings/settings.h"
#include "tools/base/result.h"
#include "tools/rdam/command/scoring_options.h"
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

// Whether two files hold the same recording: a copy under another name must not count as a second process.

/// Equal for the traces of one recording only: what ran where, and when. Empty: not known from the trace.
std::string recording_of(const trace::TraceInfo& info);

/// Says on standard error that `file` is the same recording as another one, if it is.
void say_if_same(const std::string& file, const trace::TraceInfo& info, const trace::TraceInfo& other);

/// The files, each once, however often the globs of a shell have found it and by whatever name. Says on
/// standard error which are left out.
std::vector<std::string> each_once(const std::vector<std::string>& files);

}  // namespace rdam
