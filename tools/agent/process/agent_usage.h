// The processor time that the agent itself takes.
#pragma once

#include <functional>

#include "tools/trace/event.h"

namespace rdam::agent {

/// Keeps `info` up to date from the moment at which the program begins to run. Not thread-safe.
class AgentUsage {
  public:
    /// `others`: the seconds that processes of its have used so far.
    AgentUsage(trace::AgentInfo& info, std::function<double()> others);

    /// Cheap enough for every look at the program's work.
    void note();
    /// From now on the agent disturbs nobody.
    void program_ended();

  private:
    double used() const;

    trace::AgentInfo& info_;
    std::function<double()> others_;
    double before_;  ///< seconds that were used while the program waited for its plan
    bool running_ = true;
};

}  // namespace rdam::agent
