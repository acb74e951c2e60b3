// A completed call, and the interface of those that receive calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/trace/event.h"

namespace rdam::calls {

/// What the probes cost, in ticks of the trace's clock (trace::ClockInfo).
struct ProbeCost {
    double total = 0;  ///< of one wrapped call
    double inner = 0;  ///< the part of it between the two timestamps
};

/// How a call ended. Files contain these numbers and words.
enum class End : std::uint8_t {
    returned,
    unwound,   ///< by an exception, a cancellation or the thread's end
    tail,      ///< by a tail call: it went on as another function
    not_seen,  ///< left by a jump, still open at the end, or where events are missing
};
inline constexpr std::array<std::string_view, 4> kEndWords{"returned", "unwound", "tail", "not seen"};

constexpr std::string_view word_of(End end) {
    return kEndWords[static_cast<std::size_t>(end)];
}

/// Times are in ticks. A net duration is `leave − enter` without the pauses in between, without `inner` of
/// the call itself and without `total` of each wrapped call inside it, at whatever depth; never below 0.
struct Call {
    std::uint32_t function = 0;
    bool outermost = true;       ///< no other call of the same function was open around it
    bool timed = true;           ///< false: its end is before its begin, or absurdly long after it
    bool self_timed = true;      ///< false: not timed, or a child's duration is unknown
    std::uint64_t duration = 0;  ///< net; meaningful if timed
    /// By how much it may have taken longer than `duration`, and than `self`. There were pauses in between:
    /// what goes by the clock or waits for others has gone on meanwhile. Or what the probes inside cost is
    /// more than four times what is left (BasicMatcher::set_sampled). Above 0, `duration` says nothing of how
    /// fast the call can be; it can be as fast as both together.
    std::uint64_t held = 0;
    std::uint64_t weight = 1;  ///< of so many calls: 1 / the probability that it was recorded
    std::uint64_t self = 0;   ///< duration − Σ net durations of the children, never below 0; if self_timed
    std::uint64_t begin = 0;  ///< its first timestamp, as it is in the trace
    std::uint64_t nested = 0;            ///< wrapped calls inside, at any depth
    const trace::Event* last = nullptr;  ///< the event that ended it; of its own frame, if `own_leave`
    bool own_leave = false;              ///< with the return value, if it was recorded and the call returned

    End end() const {
        if (last->kind != trace::EventKind::leave) return End::tail;
        return last->unwound ? End::unwound : End::returned;
    }
};

/// Hears of the calls of one thread. Calls nest: `closed` and `abandoned` are about the innermost open ones.
class CallSink {
  public:
    virtual ~CallSink() = default;

    /// A call begins. `enter` (an enter or tail_enter event) is valid during this call only. `weight`: Call.
    virtual void opened(const trace::Event& enter, std::uint64_t weight) = 0;

    /// The innermost open call has ended.
    virtual void closed(const Call& call) = 0;

    /// A function's call begins to wait. `enter` is valid during this call only.
    virtual void wait_opened(const trace::Event& enter) { static_cast<void>(enter); }

    /// A function's call waited, inside the innermost open call (BasicMatcher::set_waits).
    virtual void waited(const Call& wait) { static_cast<void>(wait); }

    /// The `count` innermost open calls (at least one) will never be seen to end.
    virtual void abandoned(std::size_t count) = 0;

    /// What was opened and closed since the last time belongs to one sampled call tree of this weight,
    /// above 1.
    virtual void tree_ended(std::uint64_t weight) = 0;
};

// How many instructions a call executed, without those of the probes.

/// The instructions that probes execute (trace::CounterInfo).
struct ProbeInstructions {
    double total = 0;  ///< of one wrapped call
    double inner = 0;  ///< the part of them between the two readings of the counter
};

/// 0: not known. `before` and `after` are Event::instructions of a call's first and last event; `nested`
/// wrapped calls were inside, at any depth. At least 1 where it is known.
std::uint64_t net_instructions(const ProbeInstructions& probe, std::uint64_t before, std::uint64_t after,
                               std::uint64_t nested);

/// From a trace's description; impossible values count as 0.
ProbeInstructions probe_instructions(const trace::CounterInfo& counters);

}  // namespace rdam::calls
