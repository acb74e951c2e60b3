// The processor time that the agent itself takes.
#pragma once

#include "analyzer/trace/event.h"

namespace rdam::agent {

/// Keeps `info` up to date from the moment at which the program begins to run. Not thread-safe.
class AgentUsage {
  public:
    explicit AgentUsage(trace::AgentInfo& info);

    /// Cheap enough for every look at the program's work.
    void note();
    /// From now on the agent disturbs nobody.
    void program_ended();

  private:
    trace::AgentInfo& info_;
    double before_;  ///< seconds that were used while the program waited for its plan
    bool running_ = true;
};

}  // namespace rdam::agent
