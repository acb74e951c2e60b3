// How exported files that know one name for a thread call it, and what of it is read back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/trace/event.h"

namespace rdam::trace {

/// `TID NAME #INDEX`: unique in a trace. `index`: into TraceInfo::threads.
std::string thread_label(const ThreadInfo& thread, std::uint32_t index);

struct LabeledThread {
    std::uint32_t tid = 0;
    std::string name;
};

/// Nothing: it is no such label.
std::optional<LabeledThread> thread_in_label(std::string_view label);

}  // namespace rdam::trace
