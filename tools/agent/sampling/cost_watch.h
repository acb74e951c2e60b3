// What the recorded events cost the program: under a budget the rates of functions follow from it, without
// one a notice names the functions that are too hot.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/trace/codec/decoder.h"
#include "analyzer/trace/codec/packs.h"
#include "analyzer/trace/event.h"
#include "tools/agent/memory/shared_memory.h"
#include "tools/agent/sampling/budget.h"
#include "tools/agent/sampling/first_moments.h"
#include "tools/agent/sampling/window_sampler.h"

namespace rdam::agent {

/// Tells the process by way of the shared memory. Not thread-safe.
class CostWatch {
  public:
    /// Functions whose rate becomes so low that windows do better are added to `windows`.
    CostWatch(const SharedMemory& shared, const FunctionNumbers& numbers, double ticks_per_second,
              trace::TraceInfo& info, WindowSampler& windows);

    /// The next events of a thread.
    void see(std::uint32_t thread, const trace::Packs& packs);
    void thread_ended(std::uint32_t thread);

  private:
    void keep_budget(std::uint32_t thread, const trace::Packs& packs);
    void look_at_first_moments(const trace::Packs& packs);
    void set_rates();

    const SharedMemory& shared_;
    const FunctionNumbers& numbers_;
    trace::TraceInfo& info_;
    WindowSampler& windows_;
    std::optional<Budget> budget_;
    FirstMoments first_moments_;
    trace::ChunkDecoder decoder_;
};

}  // namespace rdam::agent
