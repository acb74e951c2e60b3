// How often threads have called the functions whose calls they count (libprobe/chunks/call_counts.h).
#pragma once

#include "analyzer/trace/event.h"
#include "tools/agent/memory/shared_memory.h"

namespace rdam::agent {

/// Takes what the thread of `slot` has published last into `thread`, and tells `info` which functions are
/// counted. What the slot does not tell stays as it is. False: somebody has written over it.
bool note_calls(const SharedMemory& shared, const shm::ThreadSlot& slot, trace::TraceInfo& info,
                trace::ThreadInfo& thread);

}  // namespace rdam::agent
