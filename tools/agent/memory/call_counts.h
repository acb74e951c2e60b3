// How often threads have called the functions whose calls they count (libprobe/event/call_counts.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/agent/memory/shared_memory.h"
#include "tools/trace/event.h"

namespace rdam::agent {

/// Stores the last counts published in `slot` in `thread`, and the list of counted functions in `info`.
/// Values that the slot does not contain stay unchanged. False: the memory was overwritten.
bool note_calls(const SharedMemory& shared, const FunctionNumbers& numbers, const shm::ThreadSlot& slot,
                trace::TraceInfo& info, trace::ThreadInfo& thread);

/// The numbers of functions that have a counter; nothing: the memory was overwritten.
std::optional<std::vector<std::uint32_t>> counted_numbers(const shm::Control& control);

}  // namespace rdam::agent
