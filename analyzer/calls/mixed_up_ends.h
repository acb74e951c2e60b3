// Programs whose stacks are copied away while calls are open on them (greenlet, gevent).
#pragma once

#include <cstdint>
#include <vector>

#include "tools/trace/event.h"

namespace rdam::calls {

/// Whether a call of the function may seem to end when another one does. Inside what only waits in libc,
/// nothing is called that could copy its stack away.
bool ends_are_mixed_up(const trace::TraceInfo& info, std::uint32_t function);

/// By function, whether it ends when it seems to; empty: all do.
std::vector<bool> with_known_ends(const trace::TraceInfo& info);

}  // namespace rdam::calls
