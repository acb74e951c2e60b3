// States as calls. Pajé keeps a stack of states for each container and type: that is a thread here. Setting a
// state ends all that are open on the stack, as does a reset (so pj_dump reads them, too). Those that are
// open at the end of the container have no end: they last as long as the thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"

namespace rdam::inputs::paje {

enum class Change : std::uint8_t { set, push, pop, reset, destroy };

struct StateEvent {
    std::uint64_t time = 0;  ///< ticks
    std::uint64_t words_at = 0;
    std::uint32_t function = 0;  ///< of set and push
    std::uint8_t words = 0;
    Change change = Change::reset;
};

/// What could not be taken as it stands, in states.
struct StateOddities {
    std::uint64_t never_popped = 0;  ///< pushed, and ended by a state that is set
    std::uint64_t too_late = 0;      ///< events after the end of the container: left out
};

class StateStacks {
  public:
    /// `sorted`: events are kept until end(), and then sorted by time. Otherwise one that is earlier than the
    /// one before on its stack makes the trace disordered(), and the rest is left out.
    StateStacks(TraceBuilder& builder, bool sorted) : builder_(builder), sorted_(sorted) {}

    /// A stack, whose states are calls of the builder's thread with the same number.
    std::uint32_t add();

    void take(std::uint32_t stack, const StateEvent& event, std::span<const std::uint64_t> words);
    /// `time`: the last of the file.
    void end(std::uint64_t time);

    bool disordered() const { return disordered_; }
    const StateOddities& oddities() const { return oddities_; }

  private:
    struct Stack {
        std::uint32_t thread = 0;
        bool ended = false;
        std::uint64_t last = 0;
        std::vector<bool> pushed;  ///< of each open state: not set
        std::vector<StateEvent> given;
    };

    void apply(Stack& stack, const StateEvent& event, std::span<const std::uint64_t> words);
    void end_all(Stack& stack, std::uint64_t time);

    TraceBuilder& builder_;
    bool sorted_;
    bool disordered_ = false;
    std::vector<Stack> stacks_;
    std::vector<std::uint64_t> given_words_;
    StateOddities oddities_;
};

}  // namespace rdam::inputs::paje
