// The starter of a run's agents (tools/agent/starter.h) as a child of `rdam record`.
#pragma once

#include <sys/types.h>

#include <string>

namespace rdam {

/// Agents outlive their processes and so are orphans, unless the run has a starter that is nobody's orphan:
/// then whoever takes in orphans around `rdam record` is handed none. Where none can be made the run's first
/// process leaves one behind, as it does without `rdam record`.
class Starter {
  public:
    /// `library` is librdam.so's path. Listens when this returns.
    explicit Starter(const std::string& library);
    ~Starter() { end(); }
    Starter(const Starter&) = delete;
    Starter& operator=(const Starter&) = delete;
    Starter(Starter&&) = delete;
    Starter& operator=(Starter&&) = delete;

    /// When the program has ended. True: the starter goes on, for processes of the run that outlive it; else
    /// it has ended.
    bool end();

  private:
    int socket_ = -1;
    pid_t pid_ = 0;
};

}  // namespace rdam
