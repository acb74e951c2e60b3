// What became of the wish to count instructions, for the trace.
#pragma once

#include "analyzer/trace/event.h"
#include "libprobe/format/shared.h"

namespace rdam::agent {

/// It is the process that tries (libprobe/clock/counter.h).
trace::CounterInfo describe_counters(const shm::Measured& measured);

}  // namespace rdam::agent
