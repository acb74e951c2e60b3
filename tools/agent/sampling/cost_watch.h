// What the recorded events cost the program: without a budget, a notice names the functions that are too hot.
#pragma once

#include <cstdint>

#include "tools/agent/memory/shared_memory.h"
#include "tools/agent/sampling/call_rates.h"
#include "tools/trace/decoder.h"
#include "tools/trace/event.h"
#include "tools/trace/packs.h"

namespace rdam::agent {

/// Tells the process by way of the shared memory. Not thread-safe.
class CostWatch {
  public:
    CostWatch(const SharedMemory& shared, const trace::TraceInfo& info)
        : shared_(shared), info_(info), rates_(info) {}

    /// The next events of a thread that TraceInfo::threads has.
    void see(std::uint32_t thread, const trace::Packs& packs);

  private:
    const SharedMemory& shared_;
    const trace::TraceInfo& info_;
    CallRates rates_;
    trace::ChunkDecoder decoder_;
};

}  // namespace rdam::agent
