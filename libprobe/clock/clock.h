// The clock of the time-stamps.
#pragma once

#include <cstdint>
#include <string_view>

#include "libprobe/format/shared.h"

namespace rdam::probe {

/// The clock that RDAM_CLOCK calls `name`, as this processor has it; false: there is none of that name.
bool find_clock(std::string_view name, shm::Clock& clock);

/// Reads the clock that the trampolines use.
std::uint64_t read_clock();
/// With the processor as events carry it: 0xfff where the clock does not tell.
std::uint64_t read_clock(std::uint64_t& processor);
/// Behind a reading that begins a call: with Clock::rdtscp, nothing after it begins before the reading has
/// ended.
void fence_clock();

/// Whether the time-stamp counter advances steadily, and alike on all processors, as far as the kernel knows:
/// it watches the counter, and keeps time by something else when it finds it wanting.
bool counter_is_steady();

}  // namespace rdam::probe
