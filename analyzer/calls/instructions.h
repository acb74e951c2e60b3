// How many instructions a call executed, without those of the probes.
#pragma once

#include <cstdint>

#include "tools/trace/event.h"

namespace rdam::calls {

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
