// The clock of the timestamps.
#pragma once

#include <cstdint>
#include <string_view>

#include "libprobe/format/shared.h"

namespace rdam::probe {

/// The clock that RDAM_CLOCK calls `name`, as this processor has it; false: there is none of that name.
bool find_clock(std::string_view name, shm::Clock& clock);

/// Reads the clock that the trampolines use.
std::uint64_t read_clock();
/// Also gives the processor in the form of events: 0xfff if the clock does not provide it.
std::uint64_t read_clock(std::uint64_t& processor);
/// Behind a reading that begins a call: with Clock::rdtscp, nothing after it begins before the reading has
/// ended.
void fence_clock();

/// Whether the time-stamp counter is stable and synchronized between processors, according to the kernel: it
/// monitors the counter, and switches to another clock source if it is not.
bool counter_is_steady();

}  // namespace rdam::probe
