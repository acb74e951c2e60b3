// What a trace says of the ends of its calls.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/trace/event.h"

namespace rdam::calls {

/// Which ends of calls are known.
struct KnownEnds {
    /// No timestamp of the run can be later: a second behind the end of the last thread, for what destructors
    /// and signal handlers do there. UINT64_MAX if a thread's end is not known.
    std::uint64_t latest = UINT64_MAX;
    bool unwound_unseen = false;  ///< trace::ProcessInfo: a call that is left by unwinding is abandoned

    /// Goes through all threads: once for a trace is enough.
    static KnownEnds of(const trace::TraceInfo& info);
};

// Programs whose stacks are copied away while calls are open on them (greenlet, gevent).

/// Whether a call of the function may seem to end when another one does. Inside what only waits in libc,
/// nothing is called that could copy its stack away.
bool ends_are_mixed_up(const trace::TraceInfo& info, std::uint32_t function);

/// By function, whether it ends when it seems to; empty: all do.
std::vector<bool> with_known_ends(const trace::TraceInfo& info);

}  // namespace rdam::calls
