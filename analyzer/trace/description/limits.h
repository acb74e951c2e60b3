// What the values of a description can be. Those that decide how the rest is read make the whole message
// implausible; a measurement that cannot be is damaged, and as good as unknown.
#pragma once

#include <cmath>
#include <cstdint>
#include <exception>

#include "analyzer/trace/event.h"
#include "analyzer/trace/format.h"

namespace rdam::trace {

/// Thrown by the readers of messages, as protozero's own exceptions are, and caught in reader.cpp.
struct Implausible : std::exception {};

/// Called for each structure that has been read.
template <class Structure>
void check(Structure&) {}

inline void check(ProcessInfo& process) {
    if (!(process.machine_share >= 0 && process.machine_share <= 1)) process.machine_share = 0;
}

inline void check(ClockInfo& clock) {
    constexpr std::uint64_t kMaxStep = 1'000'000'000;  // ticks; other tools' clocks move by up to a second
    constexpr std::uint64_t kMaxError = 0xffff;        // ticks, more than the recorder measures
    constexpr double kMaxProbe = 1e9;
    if (clock.step_ticks > kMaxStep) clock.step_ticks = 0;
    if (!(clock.flow_ticks >= 0 && clock.flow_ticks <= kMaxProbe)) clock.flow_ticks = 0;
    if (!(clock.error_ticks >= 0 && clock.error_ticks <= double{kMaxError})) clock.error_ticks = 0;
}

inline void check(AgentInfo& agent) {
    for (const double each : {agent.cpu_seconds, agent.running_cpu_seconds})
        if (!std::isfinite(each) || each < 0) throw Implausible{};
    agent.told = true;
}

inline void check(FunctionInfo& function) {
    if (function.enter_words > format::kMaxEventWords || function.leave_words > format::kMaxEventWords ||
        function.most_rate > kMaxSampling)
        throw Implausible{};
}

}  // namespace rdam::trace
