// Whether the profiled process is still there, as seen from outside.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "tools/agent/memory/shared_memory.h"
#include "tools/agent/process/process_facts.h"
#include "tools/base/unmovable.h"

namespace rdam::agent {

enum class End : std::uint32_t { none, exited, replaced };

/// Watches the process, which may die at any time or become another program. The thread waits for the process
/// without a limit and may outlive this object, but touches the shared memory only as long as the object
/// exists.
class Watch : private Unmovable {
  public:
    /// Begins at once, while the process waits for its agent. `shared` must outlive this.
    explicit Watch(const SharedMemory& shared);
    ~Watch();

    /// False: no thread could be created, so the process is not watched.
    bool works() const { return works_; }

    /// Thread-safe.
    End end() const { return state_->end.load(); }

  private:
    struct State {
        std::uint32_t pid = 0;
        std::optional<ProcessStat> first;  ///< as the process was before it began
        std::atomic<End> end{End::none};
        std::mutex mutex;
        shm::Control* control = nullptr;  ///< guarded by mutex; null: there may be no memory any more

        void run();
        void finish(End how);
    };

    std::shared_ptr<State> state_;
    bool works_ = true;
};

}  // namespace rdam::agent
