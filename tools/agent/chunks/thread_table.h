// The threads of a trace, according to their slots in the shared memory.
#pragma once

#include <cstdint>

#include "tools/agent/memory/shared_facts.h"
#include "tools/agent/memory/shared_memory.h"
#include "tools/agent/process/process_numbers.h"
#include "tools/trace/event.h"

namespace rdam::agent {

/// Completes `info`. Not thread-safe.
class ThreadTable {
  public:
    ThreadTable(const SharedMemory& shared, const ProcessDescription& process, ThreadNumbers& numbers,
                trace::TraceInfo& info)
        : shared_(shared), functions_(process.numbers), pid_(process.pid), numbers_(numbers), info_(info) {}

    /// A chunk shows that a thread exists; its slot may be overwritten by the time the thread ends.
    void note_begin(const ChunkFacts& chunk);

    /// A thread has ended, or is alive at `end` (ticks; 0: not known). False: a part of its slot makes no
    /// sense.
    bool note_end(const shm::ThreadSlot& slot, const ThreadFacts& facts, std::uint64_t end);

    /// Notes `end` as the end of all threads that have not reported theirs.
    void end_rest(std::uint64_t end);

    /// Whether the thread that the process knows by this number is no longer there.
    bool is_gone(std::uint32_t own);

  private:
    trace::ThreadInfo& thread(std::uint32_t index);

    const SharedMemory& shared_;
    const FunctionNumbers& functions_;
    std::uint32_t pid_;
    ThreadNumbers& numbers_;
    trace::TraceInfo& info_;
};

}  // namespace rdam::agent
