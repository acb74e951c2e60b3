// How exported files that know one name for a thread call it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "tools/trace/event.h"

namespace rdam::trace {

/// `TID NAME #INDEX`: unique in a trace. `index`: into TraceInfo::threads.
inline std::string thread_label(const ThreadInfo& thread, std::uint32_t index) {
    return fmt::format("{} {} #{}", thread.tid, thread.name, index);
}

}  // namespace rdam::trace
