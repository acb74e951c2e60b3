// What the first moments of a run tell about its cost: functions that are called so often, and are so short,
// that recording every call slows the program down several times. Their user should know while the run can
// still be stopped.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyzer/trace/event.h"

namespace rdam::agent {

/// Not thread-safe.
class FirstMoments {
  public:
    explicit FirstMoments(const trace::TraceInfo& info) : info_(info) {}

    /// There is one more chunk. True: see() wants its events. That is so of the first ones, then of some, in
    /// the end of none: to decode them all would cost as much as to write them.
    bool wants_next();

    /// Events of one thread, in their order: of a chunk that was wanted.
    void see(std::span<const trace::Event> events);

    /// The messages due now, one line per function, without a newline; empty: none. Each function is named
    /// once.
    std::vector<std::string> take_notices();

  private:
    static constexpr std::uint32_t kAll = 16;   ///< chunks, from the first
    static constexpr std::uint32_t kEach = 8;   ///< of those behind
    static constexpr std::uint32_t kMax = 256;  ///< in all

    struct Function {
        std::uint64_t calls = 0;  ///< approximate: calls in skipped chunks are estimated
        std::uint64_t ticks = 0;  ///< their durations
        double per_second = 0;    ///< the most, over the chunks so far, of one thread
        double slowdown = 1;      ///< of that thread in that time, by the probes of all calls
        bool named = false;
    };
    struct Open {
        std::uint32_t function = 0;
        std::uint64_t tsc = 0;
    };

    const trace::TraceInfo& info_;
    std::vector<Function> functions_;
    std::vector<Open> open_;  ///< of the chunk at hand
    std::uint32_t chunks_ = 0;
};

}  // namespace rdam::agent
