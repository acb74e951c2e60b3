// What must be known of several traces before the first is analyzed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/output/processes.h"
#include "analyzer/report/shared_settings.h"
#include "analyzer/settings/settings.h"
#include "tools/base/result.h"
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

}  // namespace rdam
