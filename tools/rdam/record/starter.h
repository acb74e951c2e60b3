// The starter of a run's agents (tools/agent/starter.h) as a child of `rdam record`.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "tools/base/unmovable.h"

namespace rdam {

/// Agents outlive their processes and so are orphans, unless the run has a starter that is not an orphan
/// itself. Then a process around `rdam record` that adopts orphans gets none. If no starter can be created,
/// the run's first process leaves one behind, as it does without `rdam record`.
class Starter : private Unmovable {
  public:
    /// `library` is librdam.so's path; `has_list`: no process of the run needs the default list. Processes
    /// may ask the starter from now on; it answers when it has begun.
    Starter(const std::string& library, bool has_list);
    ~Starter() { end(); }

    /// The program and the agents have ended: nobody need wait for the starter's end later.
    void let_end();

    /// Called when the program has ended. True: the starter continues, for processes of the run that outlive
    /// the program; otherwise it has ended.
    bool end();

    /// What the processes of the run find it by (libprobe/format/starter.h). 0: there is none.
    std::uint32_t token() const { return token_; }

  private:
    int socket_ = -1;
    std::string file_;  ///< of its socket in a folder; empty: none
    pid_t pid_ = 0;
    std::uint32_t token_ = 0;
};

}  // namespace rdam
