// The clock of the time-stamps.
#pragma once

#include <cstdint>

namespace rdam::probe {

/// Reads the clock that the trampolines use.
std::uint64_t read_clock();
/// With the processor as events carry it: 0xfff where the clock does not tell.
std::uint64_t read_clock(std::uint64_t& processor);

/// Whether the time-stamp counter advances steadily, and alike on all processors, as far as the kernel knows:
/// it watches the counter, and keeps time by something else when it finds it wanting.
bool counter_is_steady();

}  // namespace rdam::probe
