// The threads of a trace, as the places in the shared memory tell of them.
#pragma once

#include <cstdint>

#include "analyzer/trace/event.h"
#include "tools/agent/memory/shared_facts.h"
#include "tools/agent/memory/shared_memory.h"

namespace rdam::agent {

/// Completes `info`. Not thread-safe.
class ThreadTable {
  public:
    ThreadTable(const SharedMemory& shared, std::uint32_t pid, trace::TraceInfo& info)
        : shared_(shared), pid_(pid), info_(info) {}

    /// A thread is heard of by a chunk of its: what its place tells may be written over by the time it ends.
    void note_begin(const ChunkFacts& chunk);

    /// A thread has ended, or at `end` (ticks; 0: not known) it lives. False: a part of what it has told
    /// makes no sense.
    bool note_end(const shm::ThreadSlot& slot, const ThreadFacts& facts, std::uint64_t end);

    /// So have all whose end has not been told.
    void end_rest(std::uint64_t end);

  private:
    trace::ThreadInfo& thread(std::uint32_t index);

    const SharedMemory& shared_;
    std::uint32_t pid_;
    trace::TraceInfo& info_;
};

}  // namespace rdam::agent
