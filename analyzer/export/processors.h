// What ran on which processor: the part of the calls that is shown by processor instead of by thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/trace/event.h"

namespace rdam::exports {

/// A stretch in which a thread was on a processor, inside an outermost call. Ticks.
struct OnProcessor {
    std::uint16_t cpu = trace::kNoCpu;
    std::uint32_t thread = 0;    ///< index into TraceInfo::threads
    std::uint32_t function = 0;  ///< of the outermost call
    std::uint64_t begin = 0, end = 0;
};

/// Keeps the longest stretches. Which of equal ones does not depend on the order. Not thread-safe.
class Processors {
  public:
    /// Takes memory for twice as many.
    explicit Processors(std::size_t most) : most_(most) {}

    /// `call` began on its cpu, and ended on `last`. `off`: the times off the processors of its thread, by
    /// time. Where the thread was in between is known if these were recorded, or if it did not move.
    void add(const OnProcessor& call, std::uint16_t last, std::span<const trace::OffCpu> off);
    void add(const Processors& other);
    /// By processor and time. They do not overlap: whoever begins there ends the one before.
    std::vector<OnProcessor> by_processor() const;

  private:
    void keep(const OnProcessor& stretch);
    void cut();

    std::size_t most_;
    std::vector<OnProcessor> stretches_;
};

}  // namespace rdam::exports
