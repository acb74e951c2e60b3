// What became of the wish to count instructions, for the trace.
#pragma once

#include "analyzer/trace/event.h"
#include "libprobe/format/shared.h"

namespace rdam::agent {

/// Once the process records: it is the one that tries (libprobe/counter.h).
trace::CounterInfo describe_counters(const shm::Control& control);

}  // namespace rdam::agent
