// What became of the wish to count instructions, for the trace.
#pragma once

#include "libprobe/format/shared.h"
#include "tools/trace/event.h"

namespace rdam::agent {

/// It is the process that tries (libprobe/event/counter.h).
trace::CounterInfo describe_counters(const shm::Measured& measured);

}  // namespace rdam::agent
