// Agents for fork children of the process that cannot reach the run's starter (libprobe/format/shared.h).
#pragma once

#include <linux/futex.h>

#include <cstdint>

#include "tools/agent/memory/shared_memory.h"
#include "tools/base/unmovable.h"

namespace rdam::agent {

/// Shows, as long as it lives, that the process is served: by the thread that makes it, which must live as
/// long. `shared` must outlive it.
class Births : private Unmovable {
  public:
    explicit Births(const SharedMemory& shared);
    ~Births() { end(); }

    /// Answers the children that ask, with the starter's help; each takes some milliseconds. For one thread
    /// at a time.
    void look();

    /// The process is not served any more: nobody waits for an answer.
    void end();

  private:
    bool start_agent_for(const shm::Birth& birth) const;

    std::uint32_t parent_;
    shm::Births& page_;
    // In our own memory: the program can write to the page.
    robust_list entry_{};
    robust_list_head held_{};
};

}  // namespace rdam::agent
