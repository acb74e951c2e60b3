// Which call a leave ends that was recorded without its function: the innermost open one on the thread's stack of
// that moment, as whoever unwinds a stack does not say what it passes.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "tools/trace/event.h"

namespace rdam::trace {

/// The calls of one thread that are open, by stack. Memory: bounded, whatever the trace claims.
class OpenFrames {
  public:
    /// Names the function of leaves that end whichever call is the innermost open one. To be called with all of the
    /// thread's events, in their order; a leave for which no call is open becomes a pause of no length.
    void name_innermost(std::span<Event> events);

  private:
    void change_to(std::uint64_t stack);
    void open(std::uint32_t function);
    void close(Event& event);

    std::vector<std::uint32_t> open_;  // on the stack of now
    std::uint64_t stack_ = 0;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> others_;  // by stack, none empty
};

}  // namespace rdam::trace
