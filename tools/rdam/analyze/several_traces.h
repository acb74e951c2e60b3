// What must be known of several traces before the first is analyzed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/output/processes.h"
#include "analyzer/report/shared_settings.h"
#include "analyzer/settings/settings.h"
#include "tools/base/result.h"
#include "tools/rdam/command/scoring_options.h"
#include "tools/trace/event.h"

namespace rdam {

/// UNIX time.
struct Span {
    double begin_unix_ns = 0, end_unix_ns = 0;
};

class SeveralTraces {
  public:
    /// Opens each. What cannot be read, or is the same recording as another one, is said on stderr and not
    /// among files().
    SeveralTraces(const std::vector<std::string>& files, const score::Settings& settings);

    const std::vector<std::string>& files() const { return files_; }
    const score::SharedSettings& shared() const { return settings_; }
    const std::vector<output::UnreadableTrace>& unreadable() const { return unreadable_; }
    /// From the start of the first process to the end of the last.
    const Span& span() const { return span_; }
    /// When the process started, in UNIX time; where its trace does not tell, when the first one did.
    double start_unix_ns(const trace::TraceInfo& info) const;
    /// Times are those since the first process of the run began.
    score::Settings settings_for(const trace::TraceInfo& info) const;
    /// It could not be read after all: said on stderr.
    void give_up(const std::string& file, const Error& error);

  private:
    bool look_at(const std::string& file, std::map<std::string, std::string>& recordings);

    score::SharedSettings settings_;
    std::vector<std::string> files_;
    std::map<std::string, std::uint64_t> run_starts_;
    Span span_;
    double longest_ns_ = 0;
    std::vector<output::UnreadableTrace> unreadable_;
};

// The settings with which traces are analyzed so that they can be compared.

class ComparedTraces {
  public:
    /// Opens all, and says on stderr what they have not in common, and of two whether they are the same. Errors: those of
    /// opening, and a name in `settings` that none has.
    static Result<ComparedTraces> look_at(const std::vector<std::string>& traces,
                                          const score::Settings& settings,
                                          const std::optional<RulesInForce>& rules);

    score::Settings settings_for(const trace::TraceInfo& info) const;

  private:
    ComparedTraces(score::SharedSettings shared, bool plainly)
        : shared_(std::move(shared)), plainly_(plainly) {}

    score::SharedSettings shared_;
    bool plainly_;  // not all tell the resolution of their clocks
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
